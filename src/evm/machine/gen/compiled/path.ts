import { i32, i64, type Operand } from "../../../../base/wasm/code.ts";
import { call, type Label } from "../../../../base/wasm/function.ts";
import { exit, haltCode, unusableOperand } from "../../halts.ts";
import { isLeaving } from "../../memory/code-map.ts";
import { globals, STACK_WORDS_MAX } from "../../memory/layout.ts";
import { DUPN, isDeep, type Opcode, opcodeAt } from "../../opcodes.ts";
import { INLINE } from "./inline/inline-emitters.ts";
import type { PathState } from "./inline/operands.ts";
import { anyBits, conditions, folded, knownValue, limbsOf } from "./limbs.ts";
import type { OperandStack, Word } from "./operand-stack.ts";
import { goToBlock, type Part } from "./part.ts";

const JUMP = 0x56;
const JUMPI = 0x57;
const JUMPDEST = 0x5b;

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
  unpaidGas: number;
  readonly #head: PathHead;
  /** Blocks on the way to here */
  readonly #visited: Set<number>;
  readonly #isSide: boolean;

  constructor(
    part: Part,
    head: PathHead,
    stack: OperandStack,
    from?: Pick<PathState, "memorySize" | "unpaidGas"> & { readonly visited: ReadonlySet<number> },
  ) {
    this.part = part;
    this.#head = head;
    this.stack = stack;
    this.memorySize = from?.memorySize ?? 0;
    this.unpaidGas = from?.unpaidGas ?? 0;
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
      const opcode = opcodeAt(opcodes, code, next);
      const following: number = next + 1 + (opcode?.immediate ?? 0);
      this.#head.bytesLeft -= following - next;
      this.unpaidGas += opcode?.gas ?? 0;
      if (op === JUMP || op === JUMPI) {
        next = op === JUMP ? this.#jump() : this.#jumpIf(following);
        begins = true;
        continue;
      }
      next = this.#emitOpcode(opcode, next) ? following : undefined;
      begins = opcode?.kind === "break";
    }
  }

  /** Has the stack bounds of the segment at `offset` checked at the head; false when it can never run. */
  #enterSegment(offset: number): boolean {
    const { stack } = this;
    const { need, growth } = this.part.map.segmentAt(offset);
    const head = this.#head;
    const most = STACK_WORDS_MAX - (growth ?? 0) - stack.height;
    const isPossible = growth !== undefined && stack.height + growth <= head.room;
    if (!isPossible || need - stack.height > most) {
      this.#leaveAt(offset);
      return false;
    }
    head.heightMin = Math.max(head.heightMin, need - stack.height);
    head.heightMax = Math.min(head.heightMax, most);
    if (stack.size > WORDS_MAX) {
      stack.flush();
      stack.end();
    }
    return true;
  }

  /** Takes off the gas of the opcodes so far, which may leave it below zero: for a way that leads to a check. */
  #takeGas(): void {
    const { f, loop } = this.part;
    if (this.unpaidGas > 0) f.set(loop.gas, i64.sub(loop.gas, BigInt(this.unpaidGas)));
    this.unpaidGas = 0;
  }

  /** As above; without enough gas the frame halts here. */
  #payGas(): void {
    this.#takeGas();
    const { f, loop, runtime } = this.part;
    f.if(i64.ltS(loop.gas, 0n), () => loop.setGas(call(runtime.gas.refillGas, loop.gas)));
  }

  /** Emits one opcode; false when the path ends with it. */
  #emitOpcode(opcode: Opcode | undefined, offset: number): boolean {
    const { part, stack } = this;
    const { f } = part;
    const op = part.map.code[offset]!;
    if (opcode === undefined || (isDeep(op) && opcode.operands === undefined)) {
      this.#payGas();
      f.do(i32.store(globals.haltDetail, opcode === undefined ? op : unusableOperand(op, part.map.code[offset + 1]!)));
      part.loop.halt(haltCode.invalidOpcode);
      return false;
    }
    if (op >= 0x5f && op <= 0x7f) stack.push(limbsOf(this.#immediate(offset, opcode.immediate)));
    else if (opcode.operands && op === DUPN) stack.dup(opcode.operands[1] - 1);
    else if (opcode.operands) stack.swap(opcode.operands[1], opcode.operands[0]);
    else if (op >= 0x80 && op <= 0x8f) stack.dup(op - 0x80);
    else if (op >= 0x90 && op <= 0x9f) stack.swap(op - 0x8f);
    else if (opcode.name === "POP") stack.drop();
    else if (opcode.name === "STOP") this.#stop();
    else if (opcode.name === "PC") stack.push(limbsOf(BigInt(offset)));
    else if (op !== JUMPDEST && !INLINE[opcode.name]?.(this)) this.#callOpcode(opcode, offset);
    return opcode.kind !== "halt" && !isLeaving(opcode);
  }

  /** Emits a call of the function of an opcode, which has operands and results where the interpreter has them. */
  #callOpcode(opcode: Opcode, offset: number): void {
    const { part, stack } = this;
    const { f, loop, map } = part;
    const { name, pops, pushes } = opcode;
    const isStatic = opcode.kind === "flow" && !opcode.isDynamic && name !== "BLOCKHASH";
    if (!isStatic) this.#payGas();
    if (isLeaving(opcode)) stack.flush();
    const top = stack.top();
    stack.spill(pops, pushes);
    const result = call(part.functions.functionOf(opcode), top, isStatic ? 0n : loop.gas);
    if (isStatic) f.drop(result);
    else loop.setGas(result);
    if (opcode.kind === "halt") loop.exit(ENDS[name]!);
    else if (isLeaving(opcode)) {
      f.set(loop.sp, stack.top(stack.height + 1));
      f.set(loop.pc, offset + 1);
      const following = map.blockAt.get(offset + 1);
      if (following !== undefined) part.require(following);
      loop.exit(name.startsWith("CREATE") ? exit.create : exit.call);
    } else if (opcode.isDynamic) loop.reloadMemorySize();
    for (let i = 0; i < pushes; i++) stack.pushStored();
  }

  #immediate(offset: number, length: number): bigint {
    const { code } = this.part.map;
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
    this.#payGas();
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
      else {
        path.#payGas();
        path.part.loop.halt(haltCode.invalidJump);
      }
    };
    let next: number | undefined = following;
    if (condition === 1) {
      if (known === undefined) this.#jumpToWord(destination);
      next = known === undefined ? undefined : this.#jumpTo(known);
    } else if (condition !== 0) {
      const isSure = known !== undefined && this.#isDestination(known);
      if (isSure && this.part.map.failureAt(following) !== undefined) {
        f.if(conditions.not(condition), () => this.#aside((side) => side.#leaveToFail(following)));
        next = this.#goTo(Number(known));
      } else {
        // Both ways need the words of the stack in their places, unless one only fails.
        if (!isSure || this.part.map.failureAt(Number(known)) === undefined) stack.flush();
        f.if(condition, () => this.#aside(taken));
      }
    }
    stack.release(destination);
    stack.release(word);
    return next;
  }

  /** Goes on at a destination only known while the code runs. */
  #jumpToWord(word: Word): void {
    const { part, stack } = this;
    const { f, loop } = part;
    const [low, ...high] = stack.limbs(word);
    this.#settle();
    const beyond = anyBits([folded.shrU(low!, 32), ...high]);
    const offset = i32.wrap(i64.of(low!));
    f.set(loop.pc, beyond === 0n ? offset : i32.select(i64.eqz(beyond), offset, -1));
    f.br(part.jump);
  }

  /** Continues with the block at `destination`, in this path where it may. */
  #goTo(destination: number): number | undefined {
    const index = this.part.map.blockAt.get(destination)!;
    if (!this.#canContinue(index)) {
      this.#branchTo(destination);
      return undefined;
    }
    this.#visited.add(index);
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
      part.map.failureAt(part.map.starts[index]!) === undefined
    );
  }

  #branchTo(destination: number): void {
    const { part } = this;
    const head = this.#head;
    const index = part.map.blockAt.get(destination)!;
    if (part.leavesAtBorders || part.map.failureAt(destination) !== undefined) {
      this.#leaveToFail(destination);
      return;
    }
    this.#settle();
    if (index === head.block) {
      head.isRepeated = true;
      part.f.br(head.again);
    } else goToBlock(part, index, head.block);
  }

  #stop(): void {
    this.#payGas();
    const { f, loop } = this.part;
    f.do(i32.store(globals.outputSize, 0));
    loop.exit(exit.stop);
  }

  /** The interpreter goes on at `offset`, with the words of the stack that it may read. */
  #leaveToFail(offset: number): void {
    this.#leaveAt(offset, this.part.map.failureAt(offset));
  }

  #leaveAt(offset: number, words?: number): void {
    this.#settle(words);
    this.part.f.set(this.part.loop.pc, offset);
    this.part.f.br(this.part.border);
  }

  /** Stack, stack pointer and gas as the interpreter has them; of the stack the `words` on top. */
  #settle(words?: number): void {
    this.stack.flush(words);
    this.part.f.set(this.part.loop.sp, this.stack.top());
    this.#takeGas();
  }

  /** Emits a branch that does not come back, from the state reached. */
  #aside(emit: (side: Path) => void): void {
    const stack = this.stack.fork();
    const { memorySize, unpaidGas } = this;
    const from = { memorySize, unpaidGas, visited: this.#visited };
    this.part.f.scope(() => emit(new Path(this.part, this.#head, stack, from)));
    stack.end();
  }
}

/** How opcodes that end a frame do so. */
const ENDS: Readonly<Record<string, number>> = {
  RETURN: exit.return,
  REVERT: exit.revert,
  SELFDESTRUCT: exit.selfDestruct,
};

/** 1 when the word is not 0. */
function conditionOf(stack: OperandStack, word: Word): Operand {
  if (word.flag) return word.flag;
  const bits = anyBits(stack.limbs(word));
  return typeof bits === "bigint" ? Number(bits !== 0n) : i64.ne(bits, 0n);
}
