import type { Opcode } from "../../opcodes.ts";
import type { Loop } from "../loop.ts";

/**
 * Emits what an opcode does. Its static gas is paid; a dynamic one pays the rest and calls `loop.charged()` before it
 * changes anything. Every emitter ends by going somewhere.
 */
export type Emitter = (loop: Loop, opcode: Opcode) => void;
export type Emitters = Readonly<Record<string, Emitter>>;
