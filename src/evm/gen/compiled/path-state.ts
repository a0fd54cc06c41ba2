import type { OperandStack } from "./operand-stack.ts";
import type { Part } from "./part.ts";

/** What opcodes find and leave on their way. */
export type PathState = {
  readonly part: Part;
  readonly stack: OperandStack;
  /** Bytes the memory is known to have */
  memorySize: number;
  /** Static gas of the opcodes on the way to here that is not yet taken off `loop.gas` */
  unpaidGas: number;
};
