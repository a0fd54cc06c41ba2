import { ARITHMETIC } from "./arithmetic.ts";
import { BITWISE } from "./bitwise.ts";
import { ENVIRONMENT } from "./environment.ts";
import { MEMORY } from "./memory.ts";
import type { Inline } from "./operands.ts";

/** Opcodes whose operands stay in variables, by the names of `opcodes.ts`; all others are emitted on the stack. */
export const INLINE: Readonly<Record<string, Inline | undefined>> = {
  ...ARITHMETIC,
  ...BITWISE,
  ...ENVIRONMENT,
  ...MEMORY,
};
