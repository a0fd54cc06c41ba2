import { keyHash } from "../../base/primitives/key-hash.ts";

/** The keys of a table in memory: key number `index` begins at `index * length`. */
type Keys = { readonly bytes: Uint8Array; readonly length: number };

/**
 * Finds the keys that begin with the same bytes, such as the slots of one account: others are not looked at. Keys come in the order of their
 * numbers and go in the opposite one.
 */
export class KeyPrefixes {
  readonly #length: number;
  /** Open-addressed: the newest key of a prefix, + 1. */
  #table: Int32Array;
  /** By key: the one before it with the same prefix, + 1. */
  #before: Int32Array;

  /**
   * @param length bytes of a prefix
   * @param keys the capacity
   */
  constructor(length: number, keys: number) {
    this.#length = length;
    this.#table = new Int32Array(keys * 2);
    this.#before = new Int32Array(keys);
  }

  /** Notes key number `index`, the newest. */
  add(keys: Keys, index: number): void {
    const at = this.#placeOf(keys, keys.bytes, index * keys.length);
    this.#before[index] = this.#table[at]!;
    this.#table[at] = index + 1;
  }

  /** Forgets key number `index`, the newest: linear probing needs no marks for removed prefixes, since the last to come is the first to go. */
  removeLast(keys: Keys, index: number): void {
    const at = this.#placeOf(keys, keys.bytes, index * keys.length);
    this.#table[at] = this.#before[index]!;
  }

  /** Numbers of the keys that begin with `prefix`, from the newest. */
  *find(keys: Keys, prefix: Uint8Array): Generator<number> {
    let key = this.#table[this.#placeOf(keys, prefix, 0)]!;
    for (; key !== 0; key = this.#before[key - 1]!) yield key - 1;
  }

  /** Grows the capacity to `room` keys; `count` of them are used. */
  grow(keys: Keys, count: number, room: number): void {
    this.#table = new Int32Array(room * 2);
    this.#before = new Int32Array(room);
    for (let index = 0; index < count; index++) this.add(keys, index);
  }

  /** Where in the table the prefix is that begins at `start` of `bytes`, or would be. */
  #placeOf(keys: Keys, bytes: Uint8Array, start: number): number {
    const mask = this.#table.length - 1;
    let at = keyHash(bytes, start, this.#length) & mask;
    for (; this.#table[at] !== 0; at = (at + 1) & mask) {
      if (this.#isSame(keys, this.#table[at]! - 1, bytes, start)) break;
    }
    return at;
  }

  #isSame({ bytes: known, length }: Keys, index: number, bytes: Uint8Array, start: number): boolean {
    const first = index * length;
    for (let i = 0; i < this.#length; i++) if (known[first + i] !== bytes[start + i]) return false;
    return true;
  }
}
