import { CALL, CALLCODE, CREATE, CREATE2, DELEGATECALL, STATICCALL } from "../opcodes.ts";
import type { FrameStart } from "../tracer.ts";

/** SELFDESTRUCT shows as a frame of its own that ends at once. */
export const SELFDESTRUCT = 0xff;

/** What tracers show of the opcode that began a frame. */
export const FRAME_TYPES: Readonly<Record<number, FrameStart["type"]>> = {
  [CREATE]: "CREATE",
  [CALL]: "CALL",
  [CALLCODE]: "CALLCODE",
  [DELEGATECALL]: "DELEGATECALL",
  [CREATE2]: "CREATE2",
  [STATICCALL]: "STATICCALL",
  [SELFDESTRUCT]: "SELFDESTRUCT",
};
