import { i32, i64, type Local } from "../../../../base/wasm/code.ts";
import { call, type FunctionBuilder, type Label } from "../../../../base/wasm/function.ts";
import { exit, haltCode } from "../../halts.ts";
import { BLOCK_MASK, type CodeMap } from "../../memory/code-map.ts";
import { frame, globals } from "../../memory/layout.ts";
import { Loop } from "../loop.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { OpcodeFunctions } from "./opcode-functions.ts";

/** As `Loop`, for opcodes that are emitted one after the other: the next one follows directly. Its `pc` is an offset in the code. */
class StraightLine extends Loop {
  override next(): void {}
  override nextSegment(): void {}
}

/** What all functions of a compiled contract share. */
export type ContractParts = {
  readonly runtime: Runtime;
  readonly functions: OpcodeFunctions;
  readonly map: CodeMap;
  /** Every block border leaves to the interpreter: for tests. */
  readonly leavesAtBorders: boolean;
  /** Bytes of code after which a path goes on in no other block */
  readonly pathBytes: number;
  /** The block needs its own path, since control may enter it from another path. */
  require(block: number): void;
};

/** What the paths of one function of a compiled contract share. */
export type Part = ContractParts & {
  readonly f: FunctionBuilder;
  readonly loop: StraightLine;
  /** Address of the deepest stack word a path may push; see `OperandStack` */
  readonly base: Local;
  /** The block to go to */
  readonly target: Local;
  /** Where each of its blocks begins, by number */
  readonly labels: ReadonlyMap<number, Label>;
  readonly dispatch: Label;
  /** Leaves the function for the block `target`. */
  readonly elsewhere: Label;
  /** The interpreter goes on at `pc`. */
  readonly border: Label;
  /** At the head of a path gas is below zero, or the stack near its bounds; `pc` is set. */
  readonly atHead: Label;
  /** Goes to the offset `pc`, which may be no destination. */
  readonly jump: Label;
  readonly references: Map<number, number>;
};

/** The blocks from `first` to before `end`; some of them have a path. */
export type PartRange = {
  readonly first: number;
  readonly end: number;
  readonly blocks: readonly number[];
};

/**
 * One function of a contract: `f` goes on with the block `target` until control leaves the part. It answers the block
 * that follows in another part, or −1 less how the frame was left.
 */
export function emitPart(
  f: FunctionBuilder,
  target: Local,
  shared: ContractParts,
  range: PartRange,
  emitPath: (part: Part, block: number) => void,
): void {
  const code = f.i32(i32.load(frame.code));
  const pc = f.i32(i32.sub(i32.load(frame.pc), code));
  const sp = f.i32(i32.load(frame.sp));
  const gas = f.i64(i64.load(frame.gas));
  const memory = f.i32(i32.load(frame.memory));
  const memorySize = f.i64(i64.load32(frame.memorySize));
  const status = f.i32(exit.halt);
  const base = f.local("i32");
  const saveRegisters = () =>
    f.do(i32.store(frame.pc, i32.add(code, pc)), i32.store(frame.sp, sp), i64.store(frame.gas, gas));
  f.block((leave) => {
    f.block((outOfGas) => {
      const registers = { pc, sp, gas, memory, memorySize, status };
      f.block((border) => {
        f.block((elsewhere) => {
          f.loop((dispatch) => {
            const atHead = f.openBlock();
            const jump = f.openBlock();
            const labels = new Map<number, Label>();
            for (const block of [...range.blocks].reverse()) labels.set(block, f.openBlock());
            f.brTable(
              i32.sub(target, range.first),
              Array.from({ length: range.end - range.first }, (_, i) => labels.get(range.first + i) ?? border),
              elsewhere,
            );
            const ways = { dispatch, enter: dispatch, leave, outOfGas };
            const loop = new StraightLine(f, shared.runtime, "fast", registers, ways);
            const part: Part = {
              ...shared,
              f,
              loop,
              base,
              target,
              labels,
              dispatch,
              elsewhere,
              border,
              atHead,
              jump,
              references: new Map(),
            };
            for (const block of range.blocks) {
              f.end();
              emitPath(part, block);
            }
            f.end();
            emitJump(part);
            f.end();
            emitHead(part);
          });
          f.unreachable();
        });
        saveRegisters();
        f.return(i32.of(target));
      });
      refill(f, gas, shared.runtime, outOfGas);
      f.set(status, exit.border);
      f.br(leave);
    });
    f.set(status, exit.halt);
    f.if(i32.eqz(i32.load(globals.halt)), () => f.do(i32.store(globals.halt, haltCode.outOfGas)));
  });
  saveRegisters();
  f.return(i32.sub(-1, status));
}

function refill(f: FunctionBuilder, gas: Local, { gas: { refillGas } }: Runtime, outOfGas: Label): void {
  f.if(i64.ltS(gas, 0n), () => {
    f.set(gas, call(refillGas, gas));
    f.brIf(outOfGas, i64.ltS(gas, 0n));
  });
}

/** Sets `target` to the entry of the block table for the offset `pc`. */
function findTarget({ f, target, loop }: Part): void {
  const entry = i32.load16(i32.add(i32.load(frame.blocks), i32.shl(loop.pc, 1)));
  f.set(target, i32.sub(entry, 1));
}

function emitJump(part: Part): void {
  const { f, loop, target, map } = part;
  const outside = f.i32(i32.geU(loop.pc, map.code.length));
  f.if(i32.eqz(outside), () => {
    findTarget(part);
    f.set(outside, i32.geU(target, BLOCK_MASK));
  });
  f.if(outside, () => {
    refill(f, loop.gas, part.runtime, loop.outOfGas);
    loop.halt(haltCode.invalidJump);
  });
  f.br(part.leavesAtBorders ? part.border : part.dispatch);
}

/** With gas again the path begins; with a stack near its bounds the interpreter goes on. */
function emitHead(part: Part): void {
  const { f, loop, target } = part;
  f.brIf(part.border, i64.geS(loop.gas, 0n));
  refill(f, loop.gas, part.runtime, loop.outOfGas);
  findTarget(part);
  f.set(target, i32.and(target, BLOCK_MASK));
  f.br(part.dispatch);
}

/** Goes on with block `index`; the stack is written and `sp` set. `current` is the block being emitted. */
export function goToBlock(part: Part, index: number, current: number): void {
  const { f, labels } = part;
  part.require(index);
  const label = labels.get(index);
  if (label !== undefined && index > current) {
    f.br(label);
    return;
  }
  f.set(part.target, index);
  f.br(label === undefined ? part.elsewhere : part.dispatch);
}
