import { invariant } from "../../../base/errors.ts";
import { keyHash } from "../../../base/primitives/key-hash.ts";

/** Lines that a key can be in. */
const WAYS = 4;
const SETS_MIN = 1;
/** First byte of a line: nothing, a key without a value, or the length of its value and so much. */
const FREE = 0;
const NO_VALUE = 1;
const LENGTH_START = 2;

/** Newest values by key, encoded. */
export type Latest = { latest(key: Uint8Array): Uint8Array | undefined };
export type LatestState = { readonly accounts: Latest; readonly slots: Latest };

export type LineLengths = {
  /** Of every key. */
  readonly keyLength: number;
  /** Longer values are not stored. */
  readonly valueMax: number;
};

/**
 * Values of keys by key, in one array: the newest rows that were read or written lately. The array is set-associative, as the caches of
 * processors are, and grows up to a maximum. Objects instead, 50,000 and more, would be visited by each collection of the old generation.
 *
 *     line   state ‖ key ‖ value
 */
export class LatestValues implements Latest {
  readonly #rows: Latest;
  readonly #keyLength: number;
  readonly #lineLength: number;
  readonly #setsMax: number;
  #lines: Uint8Array;
  #setMask = SETS_MIN - 1;
  #used = 0;
  /** Way that the next key in a full set takes. */
  #victim = 0;

  /** @param bytesMax memory, of one set at least */
  constructor(rows: Latest, { keyLength, valueMax }: LineLengths, bytesMax: number) {
    invariant(valueMax + LENGTH_START < 256, "the length of a value must fit a byte");
    this.#rows = rows;
    this.#keyLength = keyLength;
    this.#lineLength = 1 + keyLength + valueMax;
    const sets = Math.max(SETS_MIN, bytesMax / (this.#lineLength * WAYS));
    this.#setsMax = 2 ** Math.floor(Math.log2(sets));
    this.#lines = this.#linesOf(SETS_MIN);
  }

  get bytes(): number {
    return this.#lines.length;
  }

  /** A view that holds until the next call. */
  latest(key: Uint8Array): Uint8Array | undefined {
    const hash = keyHash(key, 0, this.#keyLength);
    const at = this.#find(key, hash);
    if (at >= 0) return this.#valueAt(at);
    const value = this.#rows.latest(key);
    this.set(key, value, hash, at);
    return value;
  }

  /**
   * @param value undefined if none
   * @param hash of the key
   * @param place of the key's line, -1 if it has none
   */
  set(
    key: Uint8Array,
    value: Uint8Array | undefined,
    hash = keyHash(key, 0, this.#keyLength),
    place = this.#find(key, hash),
  ): void {
    let at = place;
    const length = value?.length ?? 0;
    if (1 + this.#keyLength + length > this.#lineLength) {
      if (at >= 0) this.#lines[at] = FREE;
      return;
    }
    if (at < 0) at = this.#lineFor(hash);
    const lines = this.#lines;
    if (lines[at] === FREE) this.#used++;
    lines[at] = value === undefined ? NO_VALUE : LENGTH_START + length;
    for (let i = 0; i < key.length; i++) lines[at + 1 + i] = key[i]!;
    const start = at + 1 + key.length;
    for (let i = 0; i < length; i++) lines[start + i] = value![i]!;
  }

  forget(): void {
    this.#lines = this.#linesOf(SETS_MIN);
    this.#setMask = SETS_MIN - 1;
    this.#used = 0;
  }

  #linesOf(sets: number): Uint8Array {
    return new Uint8Array(sets * WAYS * this.#lineLength);
  }

  #valueAt(at: number): Uint8Array | undefined {
    const state = this.#lines[at]!;
    if (state === NO_VALUE) return undefined;
    const start = at + 1 + this.#keyLength;
    return this.#lines.subarray(start, start + state - LENGTH_START);
  }

  #setOf(hash: number): number {
    return (hash & this.#setMask) * WAYS * this.#lineLength;
  }

  /** Offset of the line of `key`, -1 if it has none. */
  #find(key: Uint8Array, hash: number): number {
    const lines = this.#lines;
    let at = (hash & this.#setMask) * WAYS * this.#lineLength;
    for (let way = 0; way < WAYS; way++, at += this.#lineLength) {
      if (lines[at] === FREE) continue;
      let same = 0;
      while (same < key.length && lines[at + 1 + same] === key[same]) same++;
      if (same === key.length) return at;
    }
    return -1;
  }

  /** A line for a key with `hash`, which has none: a free one, or one that another key loses. */
  #lineFor(hash: number): number {
    const isFull = this.#used >= (this.#setMask + 1) * (WAYS / 2);
    if (isFull && this.#setMask + 1 < this.#setsMax) this.#grow();
    const set = this.#setOf(hash);
    for (let way = 0; way < WAYS; way++) {
      const at = set + way * this.#lineLength;
      if (this.#lines[at] === FREE) return at;
    }
    this.#victim = (this.#victim + 1) % WAYS;
    return set + this.#victim * this.#lineLength;
  }

  #grow(): void {
    const old = this.#lines;
    const sets = (this.#setMask + 1) * 2;
    this.#lines = this.#linesOf(sets);
    this.#setMask = sets - 1;
    for (let from = 0; from < old.length; from += this.#lineLength) {
      if (old[from] === FREE) continue;
      // Two sets replace one: there is room for all.
      let at = this.#setOf(keyHash(old, from + 1, this.#keyLength));
      while (this.#lines[at] !== FREE) at += this.#lineLength;
      this.#lines.set(old.subarray(from, from + this.#lineLength), at);
    }
  }
}
