import type { Local, Operand, ValueType } from "../../../../../base/wasm/code.ts";
import type { FourLimbs, Limb } from "../limbs.ts";
import type { OperandStack } from "../operand-stack.ts";
import type { Part } from "../part.ts";

/** What opcodes find and leave on their way. */
export type PathState = {
  readonly part: Part;
  readonly stack: OperandStack;
  /** Bytes the memory is known to have */
  memorySize: number;
  /** Static gas of the opcodes on the way to here that is not yet taken off `loop.gas` */
  unpaidGas: number;
};

/** Emits an opcode whose operands are variables; false: for these operands it is emitted on the stack. */
export type Inline = (path: PathState) => boolean;

/** The variable or the number that `value` is; a computation becomes a variable that outlives scopes. */
export function hold({ part: { f } }: PathState, value: Operand, type: ValueType = "i64"): Limb {
  if (typeof value === "bigint") return value;
  if (typeof value === "object") return value;
  const local = f.allocate(type);
  f.set(local, value);
  return local;
}

/** An opcode of one operand. */
export function unary(compute: (path: PathState, a: FourLimbs) => readonly Operand[]): Inline {
  return (path) => {
    const { stack } = path;
    const a = stack.pop();
    path.part.f.scope(() => stack.push(compute(path, stack.limbs(a)).map((limb) => hold(path, limb))));
    stack.release(a);
    return true;
  };
}

/** An opcode of two operands. */
export function binary(compute: (path: PathState, a: FourLimbs, b: FourLimbs) => readonly Operand[]): Inline {
  return (path) => {
    const { stack } = path;
    const a = stack.pop();
    const b = stack.pop();
    path.part.f.scope(() => stack.push(compute(path, stack.limbs(a), stack.limbs(b)).map((limb) => hold(path, limb))));
    stack.release(a);
    stack.release(b);
    return true;
  };
}

/** Pushes a condition as a word of 0 or 1. */
export function pushCondition(path: PathState, condition: Operand): void {
  const { stack } = path;
  if (typeof condition === "number") stack.push([BigInt(condition), 0n, 0n, 0n]);
  else stack.push([undefined, 0n, 0n, 0n], hold(path, condition, "i32") as Local);
}

/** An opcode that compares two operands. */
export function comparison(compare: (a: FourLimbs, b: FourLimbs) => Operand): Inline {
  return (path) => {
    const { stack } = path;
    const a = stack.pop();
    const b = stack.pop();
    pushCondition(path, compare(stack.limbs(a), stack.limbs(b)));
    stack.release(a);
    stack.release(b);
    return true;
  };
}
