import { i32, type Local } from "../../../wasm/code.ts";
import type { FunctionBuilder, Label } from "../../../wasm/function.ts";
import { exit } from "../../halts.ts";
import { frame } from "../../memory/layout.ts";
import { Loop } from "../loop.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { CodeMap } from "./code-map.ts";
import type { OperandStack } from "./operand-stack.ts";

/** As `Loop`, for opcodes that are emitted one after the other: the next one follows directly. */
export class StraightLine extends Loop {
  override next(): void {}
  override nextSegment(): void {}
}

/** What the paths of one function of a compiled contract share. */
export type Part = {
  readonly f: FunctionBuilder;
  readonly runtime: Runtime;
  readonly map: CodeMap;
  readonly loop: StraightLine;
  /** Address of the deepest stack word a path may push; see `OperandStack` */
  readonly base: Local;
  /** The block to go to */
  readonly target: Local;
  /** Address of the block table */
  readonly blocks: Local;
  /** The blocks in it: from `first` to before `end` */
  readonly first: number;
  readonly end: number;
  /** Where each of its blocks begins, by its number less `first` */
  readonly labels: readonly Label[];
  readonly dispatch: Label;
  /** Leaves the function for the block `target` */
  readonly elsewhere: Label;
  readonly references: Map<number, number>;
  /** Every block border leaves to the interpreter: for tests. */
  readonly leavesAtBorders: boolean;
  /** Bytes of code after which a path goes on in no other block */
  readonly pathBytes: number;
  /** Bytes of code that may still be emitted a second time */
  readonly budget: { bytes: number };
};

/** What opcodes find and leave on their way through a part. */
export type PathState = {
  readonly part: Part;
  readonly stack: OperandStack;
  /** Bytes the memory is known to have */
  memorySize: number;
};

/** Sets the address of the opcode at `offset`, which only exits need. */
export function setPc({ f, loop }: Part, offset: number): void {
  f.set(loop.pc, i32.add(i32.load(frame.code), offset));
}

/** The interpreter goes on at `offset`; the stack is written and `sp` set. */
export function leaveToInterpreter(part: Part, offset: number): void {
  setPc(part, offset);
  part.loop.exit(exit.border);
}

/** Goes on with block `index`; the stack is written and `sp` set. `current` is the block being emitted. */
export function goToBlock(part: Part, index: number, current: number): void {
  const { f, first, end } = part;
  if (part.leavesAtBorders) {
    leaveToInterpreter(part, part.map.starts[index]!);
    return;
  }
  if (index > current && index < end) {
    f.br(part.labels[index - first]!);
    return;
  }
  f.set(part.target, index);
  f.br(index >= first && index < end ? part.dispatch : part.elsewhere);
}
