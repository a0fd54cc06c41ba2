import { invariant } from "../../../errors.ts";
import type { Opcode } from "../../opcodes.ts";
import type { Loop } from "../loop.ts";
import { MEMORY } from "../memory.ts";
import { ARITHMETIC } from "./arithmetic.ts";
import { BITWISE } from "./bitwise.ts";
import { COMPARISON } from "./comparison.ts";
import { CONTROL } from "./control.ts";
import { ENVIRONMENT } from "./environment.ts";
import { STACK } from "./stack.ts";
import { STATE } from "./state.ts";
import { SYSTEM } from "./system.ts";

/**
 * Emits what an opcode does. Its static gas is paid; a dynamic one pays the rest and calls `loop.charged()` before it
 * changes anything. Every emitter ends by going somewhere.
 */
export type Emitter = (loop: Loop, opcode: Opcode) => void;
export type Emitters = Readonly<Record<string, Emitter>>;

const EMITTERS: Emitters = {
  ...ARITHMETIC,
  ...COMPARISON,
  ...BITWISE,
  ...STACK,
  ...MEMORY,
  ...ENVIRONMENT,
  ...STATE,
  ...CONTROL,
  ...SYSTEM,
};

export function emitOpcode(loop: Loop, opcode: Opcode): void {
  const emit = EMITTERS[opcode.name] ?? EMITTERS[opcode.name.replace(/\d+$/, "")];
  invariant(emit, `no emitter for ${opcode.name}`);
  emit(loop, opcode);
}
