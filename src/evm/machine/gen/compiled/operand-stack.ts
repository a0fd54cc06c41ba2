import { i32, i64, type Local, type Operand, v128 } from "../../../../base/wasm/code.ts";
import type { FunctionBuilder } from "../../../../base/wasm/function.ts";
import { WORD } from "../../memory/layout.ts";
import { ZERO_HALF } from "../words.ts";
import { type FourLimbs, knownValue, type Limb } from "./limbs.ts";

/** A 256-bit word while it is in variables. */
export class Word {
  /** Lowest first; undefined: not loaded from `home`, or not made of `flag`. */
  readonly limbs: (Limb | undefined)[];
  /** A word of 0 or 1 as a condition */
  readonly flag: Local | undefined;
  /** A position on the stack whose bytes in linear memory are this word */
  home: number | undefined;
  /** Stack positions that hold it, and the emitters that use it */
  uses = 1;

  constructor(limbs: (Limb | undefined)[], home?: number, flag?: Local) {
    this.limbs = limbs;
    this.home = home;
    this.flag = flag;
  }
}

/** Data shared by the stacks of a path and its branches. */
type Shared = {
  /** The number of words that use a variable, by its index */
  readonly references: Map<number, number>;
  /** A number known when the code is emitted is written to the stack. */
  readonly onStored: (value: bigint) => void;
};

type Cell = { readonly word: Word; isStored: boolean };

/**
 * The operand stack of one path through a contract. Words pushed on the path are variables or constants until `flush`
 * writes them where the interpreter has them; words from before the path are loaded at their first use.
 *
 * Positions count from the stack at the beginning of the path: −1 is what was on top there, 0 the first word pushed. The
 * word at position p is stored at `base + 32·(room − 1 − p)`.
 */
export class OperandStack {
  readonly #f: FunctionBuilder;
  readonly #base: Local;
  readonly #room: number;
  readonly #shared: Shared;
  #cells = new Map<number, Cell>();
  /** Words by their home */
  #homes = new Map<number, Word>();
  /** Words more than at the beginning of the path */
  height = 0;

  /** @param base variable with the address of the last of `room` positions, counted from 0 */
  constructor(
    f: FunctionBuilder,
    base: Local,
    room: number,
    shared: Shared = { references: new Map(), onStored: () => {} },
  ) {
    this.#f = f;
    this.#base = base;
    this.#room = room;
    this.#shared = shared;
  }

  /** Offset of position `p` from `base`. */
  offset(position: number): number {
    return (this.#room - 1 - position) * WORD;
  }

  /** The address of the word on top, as it is or for another height. */
  top(height = this.height): Operand {
    return i32.add(this.#base, this.offset(height - 1));
  }

  get base(): Local {
    return this.#base;
  }

  push(limbs: readonly (Limb | undefined)[], flag?: Local): void {
    const word = new Word([...limbs], undefined, flag);
    for (const limb of limbs) this.#refer(limb);
    this.#refer(flag);
    this.#cells.set(this.height++, { word, isStored: false });
  }

  /** The word on top belongs to the caller, who releases it. */
  pop(): Word {
    const position = this.height - 1;
    const { word } = this.#cell(position);
    this.#cells.delete(position);
    this.height--;
    return word;
  }

  /** The word on top, which stays there. */
  peek(): Word {
    return this.#cell(this.height - 1).word;
  }

  drop(): void {
    const position = this.height - 1;
    const cell = this.#cells.get(position);
    if (cell) this.release(cell.word);
    this.#cells.delete(position);
    this.height--;
  }

  /** Pushes operand `n`, counted from 0, again. */
  dup(n: number): void {
    const { word } = this.#cell(this.height - 1 - n);
    word.uses++;
    this.#cells.set(this.height++, { word, isStored: false });
  }

  /** Exchanges operand `m`, which is the one on top unless given, with operand `n`. */
  swap(n: number, m = 0): void {
    const position = this.height - 1 - m;
    const top = this.#cell(position);
    const deep = this.height - 1 - n;
    const other = this.#cell(deep);
    if (top.word === other.word) return;
    this.#cells.set(position, { word: other.word, isStored: other.word.home === position });
    this.#cells.set(deep, { word: top.word, isStored: top.word.home === deep });
  }

  /** Limb `i` of a word, loaded where that has not been done. */
  limb(word: Word, i: number): Limb {
    const known = word.limbs[i];
    if (known !== undefined) return known;
    const limb = this.#f.allocate("i64");
    const value =
      word.home === undefined ? i64.extendU(word.flag!) : i64.load(this.#base, this.offset(word.home) + 8 * i);
    this.#f.set(limb, value);
    this.#refer(limb);
    word.limbs[i] = limb;
    return limb;
  }

  limbs(word: Word): FourLimbs {
    return [0, 1, 2, 3].map((i) => this.limb(word, i)) as unknown as FourLimbs;
  }

  release(word: Word): void {
    if (--word.uses > 0) return;
    for (const limb of word.limbs) this.#forget(limb);
    this.#forget(word.flag);
    if (word.home !== undefined) this.#homes.delete(word.home);
  }

  /** Words that are in variables, or known. */
  get size(): number {
    return this.#cells.size;
  }

  /** Writes all words, or only the top `count`, where the interpreter expects them. */
  flush(count = Number.POSITIVE_INFINITY): void {
    const first = this.height - count;
    this.#store([...this.#cells.keys()].filter((position) => position >= first));
  }

  /** Writes the `pops` words on top and takes them off, for code that writes `pushes` words in their place. */
  spill(pops: number, pushes: number): void {
    const first = this.height - pops;
    this.flush(pops);
    for (let i = 0; i < pops; i++) this.drop();
    for (let i = 0; i < Math.max(pops, pushes); i++) this.#overwrite(first + i);
  }

  /** Pushes a word that emitted code writes at its position; `spill` came before. */
  pushStored(): void {
    this.height++;
  }

  /** Loads the word whose bytes at `position` are about to be replaced. */
  #overwrite(position: number): void {
    const word = this.#homes.get(position);
    if (!word) return;
    for (let i = 0; i < 4; i++) this.limb(word, i);
    word.home = undefined;
    this.#homes.delete(position);
  }

  /** Makes the `count` positions above the stack free for `writeAbove`, which may be in a branch. */
  clearAbove(count: number): void {
    for (let i = 0; i < count; i++) this.#overwrite(this.height + i);
  }

  /** Writes words above the stack, the first on top, and returns the address of the first. */
  writeAbove(...words: readonly FourLimbs[]): Operand {
    const end = this.height + words.length;
    words.forEach((limbs, i) => {
      storeLimbs(this.#f, this.#base, limbs, this.offset(end - 1 - i));
    });
    return this.top(end);
  }

  /** The same stack for a branch of the path; to be ended by `end`. */
  fork(): OperandStack {
    const fork = new OperandStack(this.#f, this.#base, this.#room, this.#shared);
    fork.height = this.height;
    const copies = new Map<Word, Word>();
    for (const [position, { word, isStored }] of this.#cells) {
      let copy = copies.get(word);
      if (copy) copy.uses++;
      else {
        copy = new Word([...word.limbs], word.home, word.flag);
        for (const limb of word.limbs) this.#refer(limb);
        this.#refer(word.flag);
        copies.set(word, copy);
        if (copy.home !== undefined) fork.#homes.set(copy.home, copy);
      }
      fork.#cells.set(position, { word: copy, isStored });
    }
    return fork;
  }

  /** Gives all variables back; words that are not stored are lost. */
  end(): void {
    for (const { word } of this.#cells.values()) this.release(word);
    this.#cells.clear();
    this.#homes.clear();
  }

  #cell(position: number): Cell {
    let cell = this.#cells.get(position);
    if (!cell) {
      const word = new Word([undefined, undefined, undefined, undefined], position);
      cell = { word, isStored: true };
      this.#homes.set(position, word);
      this.#cells.set(position, cell);
    }
    return cell;
  }

  /** Loads all that the stores need before the first of them. */
  #store(positions: readonly number[]): void {
    const missing = positions.filter((position) => !this.#cells.get(position)!.isStored);
    for (const position of missing) {
      this.limbs(this.#cells.get(position)!.word);
      this.#overwrite(position);
    }
    for (const position of missing) {
      const cell = this.#cells.get(position)!;
      const { word } = cell;
      const known = knownValue(word.limbs);
      if (known !== undefined) this.#shared.onStored(known);
      storeLimbs(this.#f, this.#base, this.limbs(word), this.offset(position));
      cell.isStored = true;
      if (word.home !== undefined) continue;
      word.home = position;
      this.#homes.set(position, word);
    }
  }

  #refer(limb: Limb | undefined): void {
    if (typeof limb !== "object") return;
    const { references } = this.#shared;
    references.set(limb.index, (references.get(limb.index) ?? 0) + 1);
  }

  #forget(limb: Limb | undefined): void {
    if (typeof limb !== "object") return;
    const { references } = this.#shared;
    const count = references.get(limb.index)! - 1;
    references.set(limb.index, count);
    if (count === 0) this.#f.free(limb);
  }
}

/** Writes a word, parts of which may be known. */
function storeLimbs(f: FunctionBuilder, address: Local, limbs: FourLimbs, at: number): void {
  for (const low of [0, 2]) {
    if (limbs[low] === 0n && limbs[low + 1] === 0n) {
      f.do(v128.store(address, ZERO_HALF, at + 8 * low));
      continue;
    }
    f.do(i64.store(address, limbs[low]!, at + 8 * low));
    f.do(i64.store(address, limbs[low + 1]!, at + 8 * low + 8));
  }
}
