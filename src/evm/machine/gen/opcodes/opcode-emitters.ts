import { invariant } from "../../../../base/errors.ts";
import type { Opcode } from "../../opcodes.ts";
import type { Loop } from "../loop.ts";
import { ARITHMETIC } from "./arithmetic.ts";
import { BITWISE, COMPARISON } from "./bitwise.ts";
import { CONTROL, STACK, SYSTEM } from "./control.ts";
import type { Emitters } from "./emitter.ts";
import { ENVIRONMENT } from "./environment.ts";
import { MEMORY } from "./memory.ts";
import { STATE } from "./state.ts";

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
