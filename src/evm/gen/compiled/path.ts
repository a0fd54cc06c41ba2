import { i32, i64, type Operand } from "../../../wasm/code.ts";
import { call, type Label } from "../../../wasm/function.ts";
import { exit, haltCode } from "../../halts.ts";
import { frame, globals, STACK_WORDS_MAX } from "../../memory/layout.ts";
import type { Opcode } from "../../opcodes.ts";
import { emitOpcode } from "../opcodes/opcode-emitters.ts";
import { immediateLength, isLeaving } from "./code-map.ts";
import { INLINE } from "./inline/inline-emitters.ts";
import { anyBits, conditions, knownValue, limbsOf } from "./limbs.ts";
import type { OperandStack, Word } from "./operand-stack.ts";
import { goToBlock, leaveToInterpreter, type Part, type PathState, setPc } from "./part.ts";

const JUMP = 0x56;
const JUMPI = 0x57;
const JUMPDEST = 0x5b;

/** A branch not longer than this that ends in a revert, a halt or a jump is emitted inside the path it leaves. */
const SIDE_BYTES_MAX = 48;

/**
 * Words in variables at the beginning of a segment. What is done when gas runs out has code for each of them, and V8's time for
 * a branch grows with the variables of the function.
 */
const WORDS_MAX = 32;

/** What all branches of a path share: it begins at block `head` with bounds of the stack to be checked there. */
export type PathHead = {
  readonly block: number;
  /** Goes to the head again */
  readonly again: Label;
  isRepeated: boolean;
  /** Fewest and most words on the stack at the head with which no segment of the path fails */
  heightMin: number;
  heightMax: number;
  /** Words a path may push */
  readonly room: number;
  bytesLeft: number;
};

/**
 * Emits opcodes in the order in which they run, from the head of a path through jumps whose destination is known, until
 * the path ends or would meet a block again. Between blocks words are where the interpreter has them; inside a path they
 * are variables.
 */
export class Path implements PathState {
  readonly part: Part;
  readonly stack: OperandStack;
  memorySize: number;
  readonly #head: PathHead;
  /** Blocks on the way to here */
  readonly #visited: Set<number>;
  readonly #isSide: boolean;

  constructor(
    part: Part,
    head: PathHead,
    stack: OperandStack,
    from?: { readonly memorySize: number; readonly visited: ReadonlySet<number> },
  ) {
    this.part = part;
    this.#head = head;
    this.stack = stack;
    this.memorySize = from?.memorySize ?? 0;
    this.#visited = new Set(from?.visited);
    this.#visited.add(head.block);
    this.#isSide = from !== undefined;
  }

  /** Emits what follows from `offset`, the beginning of a segment. */
  emit(offset: number): void {
    let next: number | undefined = offset;
    let begins = true;
    while (next !== undefined) {
      const { code, opcodes } = this.part.map;
      if (next >= code.length) {
        this.#stop();
        return;
      }
      const op = code[next]!;
      if (op === JUMPDEST && !begins) {
        next = this.#goTo(next);
        begins = true;
        continue;
      }
      if (begins && !this.#enterSegment(next)) return;
      const opcode = opcodes[op];
      const following: number = next + 1 + immediateLength(op);
      this.#head.bytesLeft -= following - next;
      if (op === JUMP || op === JUMPI) {
        next = op === JUMP ? this.#jump() : this.#jumpIf(following);
        begins = true;
        continue;
      }
      next = this.#emitOpcode(opcode, next) ? following : undefined;
      begins = opcode?.kind === "break";
    }
  }

  /** Charges the segment at `offset` and has its stack bounds checked at the head; false when it can never run. */
  #enterSegment(offset: number): boolean {
    const { part, stack } = this;
    const { f, loop, runtime } = part;
    const { gas, need, growth } = part.map.segmentAt(offset);
    const head = this.#head;
    const most = STACK_WORDS_MAX - (growth ?? 0) - stack.height;
    const isPossible = growth !== undefined && stack.height + growth <= head.room;
    if (!isPossible || need - stack.height > most) {
      this.#leaveAt(offset);
      return false;
    }
    head.heightMin = Math.max(head.heightMin, need - stack.height);
    head.heightMax = Math.min(head.heightMax, most);
    if (gas === 0n) return true;
    if (stack.size > WORDS_MAX) {
      stack.flush();
      stack.end();
    }
    f.set(loop.gas, i64.sub(loop.gas, gas));
    f.if(i64.ltS(loop.gas, 0n), () => {
      f.set(loop.gas, call(runtime.gas.refillGas, loop.gas));
      f.if(i64.ltS(loop.gas, 0n), () => {
        f.set(loop.gas, i64.add(loop.gas, gas));
        this.#aside((side) => {
          side.#settle();
          setPc(part, offset);
          f.set(loop.status, i32.select(i32.load(globals.halt), exit.halt, exit.checkFailed));
          f.br(loop.leave);
        });
      });
    });
    return true;
  }

  /** Emits one opcode; false when the path ends with it. */
  #emitOpcode(opcode: Opcode | undefined, offset: number): boolean {
    const { part, stack } = this;
    const { f, loop } = part;
    const op = part.map.code[offset]!;
    if (opcode === undefined) {
      f.do(i32.store(globals.haltDetail, op));
      loop.halt(haltCode.invalidOpcode);
      return false;
    }
    if (op >= 0x5f && op <= 0x7f) stack.push(limbsOf(this.#immediate(offset)));
    else if (op >= 0x80 && op <= 0x8f) stack.dup(op - 0x80);
    else if (op >= 0x90 && op <= 0x9f) stack.swap(op - 0x8f);
    else if (opcode.name === "POP") stack.drop();
    else if (opcode.name === "STOP") this.#stop();
    else if (opcode.name === "PC") stack.push(limbsOf(BigInt(offset)));
    else if (op !== JUMPDEST && !INLINE[opcode.name]?.(this)) this.#emitOnStack(opcode, offset);
    return opcode.kind !== "halt" && !isLeaving(opcode);
  }

  /** Emits an opcode as the interpreter has it: operands and results in linear memory. */
  #emitOnStack(opcode: Opcode, offset: number): void {
    const { part, stack } = this;
    const { f, loop } = part;
    if (isLeaving(opcode)) {
      stack.flush();
      setPc(part, offset);
    }
    const top = stack.top();
    stack.spill(opcode.pops, opcode.pushes);
    f.set(loop.sp, top);
    f.scope(() => emitOpcode(loop, opcode));
    for (let i = 0; i < opcode.pushes; i++) stack.pushStored();
  }

  #immediate(offset: number): bigint {
    const { code } = this.part.map;
    const length = immediateLength(code[offset]!);
    let value = 0n;
    for (let i = 1; i <= length; i++) value = (value << 8n) | BigInt(code[offset + i] ?? 0);
    return value;
  }

  /** The offset at which the path goes on, or undefined when it has ended. */
  #jump(): number | undefined {
    const { stack } = this;
    const word = stack.pop();
    const known = knownValue(word.limbs);
    if (known === undefined) this.#jumpToWord(word);
    stack.release(word);
    return known === undefined ? undefined : this.#jumpTo(known);
  }

  #jumpTo(destination: bigint): number | undefined {
    if (this.#isDestination(destination)) return this.#goTo(Number(destination));
    this.part.loop.halt(haltCode.invalidJump);
    return undefined;
  }

  #isDestination(destination: bigint): boolean {
    const { map } = this.part;
    return destination < BigInt(map.code.length) && map.isDestination(Number(destination));
  }

  /** @param following the offset after the JUMPI */
  #jumpIf(following: number): number | undefined {
    const { stack } = this;
    const { f } = this.part;
    const destination = stack.pop();
    const word = stack.pop();
    const known = knownValue(destination.limbs);
    const condition = conditionOf(stack, word);
    if (known === undefined && typeof condition !== "number") stack.limbs(destination);
    const taken = (path: Path): void => {
      if (known === undefined) path.#jumpToWord(destination);
      else if (this.#isDestination(known)) path.#branchTo(Number(known));
      else path.part.loop.halt(haltCode.invalidJump);
    };
    let next: number | undefined = following;
    if (condition === 1) {
      if (known === undefined) this.#jumpToWord(destination);
      next = known === undefined ? undefined : this.#jumpTo(known);
    } else if (condition !== 0) {
      if (known !== undefined && this.#isMainPath(known, following)) {
        f.if(conditions.not(condition), () => this.#aside((side) => side.emit(following)));
        next = this.#goTo(Number(known));
      } else f.if(condition, () => this.#aside(taken));
    }
    stack.release(destination);
    stack.release(word);
    return next;
  }

  /** What follows the jump is short and ends, as a failed check does, so that the path goes on at the destination. */
  #isMainPath(destination: bigint, following: number): boolean {
    if (!this.#isDestination(destination)) return false;
    const { code, opcodes, blockAt } = this.part.map;
    if (!this.#canContinue(blockAt.get(Number(destination))!)) return false;
    for (let offset = following; offset < following + SIDE_BYTES_MAX; ) {
      const op = code[offset];
      if (op === undefined || op === JUMPI || op === JUMPDEST) return false;
      if (op === JUMP || opcodes[op] === undefined || opcodes[op].kind === "halt") return true;
      if (isLeaving(opcodes[op])) return false;
      offset += 1 + immediateLength(op);
    }
    return false;
  }

  /** Goes on at a destination only known while the code runs. */
  #jumpToWord(word: Word): void {
    const { part, stack } = this;
    const { f, loop } = part;
    const [low, ...high] = stack.limbs(word);
    this.#settle();
    const isBeyond = i64.geU(low!, BigInt(part.map.code.length));
    const highBits = anyBits(high);
    const isInvalid = highBits === 0n ? isBeyond : i32.or(i64.ne(highBits, 0n), isBeyond);
    loop.haltIf(isInvalid, haltCode.invalidJump);
    const entry = i32.load16(i32.add(part.blocks, i32.shl(i32.wrap(low!), 1)));
    f.set(part.target, i32.sub(entry, 1));
    loop.haltIf(i32.geU(part.target, 0x7fff), haltCode.invalidJump);
    if (part.leavesAtBorders) {
      f.set(loop.pc, i32.add(i32.load(frame.code), i32.wrap(low!)));
      loop.exit(exit.border);
    } else f.br(part.dispatch);
  }

  /** Continues with the block at `destination`, in this path where it may. */
  #goTo(destination: number): number | undefined {
    const index = this.part.map.blockAt.get(destination)!;
    if (!this.#canContinue(index)) {
      this.#branchTo(destination);
      return undefined;
    }
    this.#visited.add(index);
    const { budget } = this.part;
    const following = this.part.map.starts[index + 1] ?? this.part.map.code.length;
    budget.bytes -= following - destination;
    return destination;
  }

  #canContinue(index: number): boolean {
    const { part } = this;
    return (
      !this.#isSide &&
      !part.leavesAtBorders &&
      !this.#visited.has(index) &&
      this.stack.height + part.map.growthOf(index) <= this.#head.room &&
      this.#head.bytesLeft > 0 &&
      part.budget.bytes > 0
    );
  }

  #branchTo(destination: number): void {
    const { part } = this;
    const head = this.#head;
    const index = part.map.blockAt.get(destination)!;
    this.#settle();
    if (index === head.block && !part.leavesAtBorders) {
      head.isRepeated = true;
      part.f.br(head.again);
    } else goToBlock(part, index, head.block);
  }

  #stop(): void {
    const { f, loop } = this.part;
    f.do(i32.store(globals.outputSize, 0));
    loop.exit(exit.stop);
  }

  #leaveAt(offset: number): void {
    this.#settle();
    leaveToInterpreter(this.part, offset);
  }

  /** Stack and stack pointer as the interpreter has them. */
  #settle(): void {
    this.stack.flush();
    this.part.f.set(this.part.loop.sp, this.stack.top());
  }

  /** Emits a branch that does not come back, from the state reached. */
  #aside(emit: (side: Path) => void): void {
    const stack = this.stack.fork();
    const from = { memorySize: this.memorySize, visited: this.#visited };
    this.part.f.scope(() => emit(new Path(this.part, this.#head, stack, from)));
    stack.end();
  }
}

/** 1 when the word is not 0. */
function conditionOf(stack: OperandStack, word: Word): Operand {
  if (word.flag) return word.flag;
  const bits = anyBits(stack.limbs(word));
  return typeof bits === "bigint" ? Number(bits !== 0n) : i64.ne(bits, 0n);
}
