import { invariant } from "../../../errors.ts";
import type { Opcode } from "../../opcodes.ts";
import type { Loop } from "../loop.ts";
import { ARITHMETIC } from "./arithmetic.ts";
import { BITWISE } from "./bitwise.ts";
import { COMPARISON } from "./comparison.ts";
import { CONTROL } from "./control.ts";
import type { Emitters } from "./emitter.ts";
import { ENVIRONMENT } from "./environment.ts";
import { MEMORY } from "./memory.ts";
import { STACK } from "./stack.ts";
import { STATE } from "./state.ts";
import { SYSTEM } from "./system.ts";

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
