import { i32, i64, type Local, type Operand } from "../../../base/wasm/code.ts";
import { call, type FunctionBuilder, type Label } from "../../../base/wasm/function.ts";
import { exit, haltCode } from "../halts.ts";
import { frame, globals, STACK_WORDS_MAX, WORD } from "../memory/layout.ts";
import { ACCESS_OPCODES, type Opcode } from "../opcodes.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { limb, orAll } from "./words.ts";

/**
 * - "fast": gas is checked once per segment
 * - "perOpcode": before each opcode, with a call of the step hook
 * - "perAccess": before each opcode, with a call of the step hook where the opcode is one of `ACCESS_OPCODES`
 */
export type Build = "fast" | "perOpcode" | "perAccess";

/** Leaves `gas` with what the frame runs on until it has to look at the clock; the rest is in reserve. */
export function takeSlice(f: FunctionBuilder, gas: Local): void {
  f.do(i64.store(globals.reserve, 0n), i32.store(globals.halt, haltCode.none));
  f.if(i64.gtS(gas, i64.load(globals.slice)), () => {
    f.do(i64.store(globals.reserve, i64.sub(gas, i64.load(globals.slice))));
    f.set(gas, i64.load(globals.slice));
  });
}

/** geth charges no gas of LOG before its memory is measured, so a range beyond 64 bits is the first fault it finds. */
const isLog = ({ name }: Opcode): boolean => name.startsWith("LOG");

/**
 * What an opcode's emitter works with: the registers of the running frame as variables, and the ways on from the opcode.
 * The stack grows downward, so operand n is the word at sp + 32·n.
 */
export class Loop {
  readonly f: FunctionBuilder;
  readonly runtime: Runtime;
  readonly build: Build;
  /** Linear-memory address of the opcode */
  readonly pc: Local;
  readonly sp: Local;
  readonly gas: Local;
  /** Where the frame's memory begins, and its size as 64 bits */
  readonly memory: Local;
  readonly memorySize: Local;
  readonly status: Local;
  readonly dispatch: Label;
  readonly enter: Label;
  readonly leave: Label;
  readonly outOfGas: Label;
  #isAccess = false;

  constructor(
    f: FunctionBuilder,
    runtime: Runtime,
    build: Build,
    registers: Pick<Loop, "pc" | "sp" | "gas" | "memory" | "memorySize" | "status">,
    labels: Pick<Loop, "dispatch" | "enter" | "leave" | "outOfGas">,
  ) {
    this.f = f;
    this.runtime = runtime;
    this.build = build;
    this.pc = registers.pc;
    this.sp = registers.sp;
    this.gas = registers.gas;
    this.memory = registers.memory;
    this.memorySize = registers.memorySize;
    this.status = registers.status;
    this.dispatch = labels.dispatch;
    this.enter = labels.enter;
    this.leave = labels.leave;
    this.outOfGas = labels.outOfGas;
  }

  /** On to the opcode `bytes` further, in the same segment. */
  next(bytes = 1): void {
    this.f.set(this.pc, i32.add(this.pc, bytes));
    this.f.br(this.dispatch);
  }

  /** On to the next opcode, which begins a segment. */
  nextSegment(): void {
    this.f.set(this.pc, i32.add(this.pc, 1));
    this.f.br(this.enter);
  }

  /** Drops `words` operands. */
  drop(words: number): void {
    this.f.set(this.sp, i32.add(this.sp, words * WORD));
  }

  /** Makes room for one result. */
  grow(): void {
    this.f.set(this.sp, i32.sub(this.sp, WORD));
  }

  /** The address of operand `n`. */
  operand(n: number): Operand {
    return n === 0 ? this.sp : i32.add(this.sp, n * WORD);
  }

  exit(status: number): void {
    this.f.set(this.status, status);
    this.f.br(this.leave);
  }

  halt(code: number): void {
    this.f.do(i32.store(globals.halt, code));
    this.exit(exit.halt);
  }

  haltIf(condition: Operand, code: number): void {
    this.f.if(condition, () => this.halt(code));
  }

  /** Sets gas to what a charging function answers; below zero the frame halts. */
  setGas(value: Operand): void {
    this.f.set(this.gas, value);
    this.f.brIf(this.outOfGas, i64.ltS(this.gas, 0n));
  }

  reloadMemorySize(): void {
    this.f.set(this.memorySize, i64.load32(frame.memorySize));
  }

  /** Charges for memory up to the end of the range whose offset and size are words, and provides it. */
  expandTo(offset: Operand, size: Operand): void {
    const { f } = this;
    const { gas } = this.runtime;
    const beyond = orAll([
      ...[1, 2, 3].flatMap((i) => [limb(offset, i), limb(size, i)]),
      i64.shrU(i64.or(limb(offset, 0), limb(size, 0)), 32n),
    ]);
    const end = i64.add(limb(offset, 0), limb(size, 0));
    // Most ranges are memory already; what is not, or not a range, goes the long way.
    f.if(i32.or(i64.ne(beyond, 0n), i64.gtU(end, this.memorySize)), () => {
      this.setGas(call(gas.expand, this.gas, call(gas.rangeEnd, offset, size)));
      this.reloadMemorySize();
    });
  }

  /** Takes `cost` off the gas; the frame halts when it is not there. */
  charge(cost: Operand): void {
    const { f } = this;
    f.set(this.gas, i64.sub(this.gas, cost));
    f.if(i64.ltS(this.gas, 0n), () => this.setGas(call(this.runtime.gas.refillGas, this.gas)));
  }

  /**
   * Placed where an opcode has paid everything and changed nothing yet: there the per-opcode build calls the step hook,
   * with the cost and the memory as it was.
   */
  charged(): void {
    if (this.build === "fast") return;
    const { f } = this;
    if (this.build === "perOpcode") {
      const now = i64.add(this.gas, i64.load(globals.reserve));
      const taken = i64.sub(i64.load(globals.stepGas), now);
      // As in geth, gas that paid for state growth is not part of the opcode's cost.
      const lent = i64.sub(i64.load(frame.spilled), i64.load(globals.stepSpilled));
      f.do(i64.store(globals.stepCost, this.runtime.rules.eip8037 ? i64.sub(taken, lent) : taken));
    } else if (!this.#isAccess) return;
    f.do(i32.store(frame.sp, this.sp), i32.store(globals.stepped, 1), call(this.runtime.imports.step));
  }

  /** Before an opcode of the per-opcode build: stack bounds, then static gas, in geth's order. */
  begin(opcode: Opcode | undefined): void {
    if (this.build === "fast") return;
    const { f } = this;
    this.#isAccess = opcode !== undefined && ACCESS_OPCODES.has(opcode.code);
    f.do(i32.store(frame.pc, this.pc), i32.store(globals.stepped, 0));
    if (this.build === "perOpcode") this.#recordStep();
    if (opcode === undefined) return;
    const { pops, pushes } = opcode;
    const haltUnless = (bytes: number, isFine: (height: Operand) => Operand, code: number) =>
      f.scope(() => {
        const height = f.i32(i32.sub(i32.load(frame.stackBase), this.sp));
        f.if(i32.eqz(isFine(height)), () => {
          f.do(i32.store(globals.haltDetail, i32.or(i32.shl(i32.shrU(height, 5), 16), bytes / WORD)));
          this.halt(code);
        });
      });
    if (pops > 0) {
      haltUnless(pops * WORD, (height) => i32.geU(height, pops * WORD), haltCode.stackUnderflow);
    }
    if (pushes > pops) {
      const most = (STACK_WORDS_MAX - (pushes - pops)) * WORD;
      haltUnless(most, (height) => i32.leU(height, most), haltCode.stackOverflow);
    }
    if (opcode.gas > 0 && !isLog(opcode)) this.charge(BigInt(opcode.gas));
    if (!opcode.isDynamic) this.charged();
  }

  /** What the step hook shows of the time before the opcode. */
  #recordStep(): void {
    this.f.do(
      i64.store(globals.stepGas, i64.add(this.gas, i64.load(globals.reserve))),
      i64.store32(globals.stepMemorySize, this.memorySize),
      i32.store(globals.stepUndoTop, i32.load(globals.undoTop)),
      i64.store(globals.stepRefund, i64.load(globals.refund)),
    );
    if (this.runtime.rules.eip8037) this.f.do(i64.store(globals.stepSpilled, i64.load(frame.spilled)));
  }
}
