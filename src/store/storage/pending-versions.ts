import { keyHash } from "../../base/primitives/key-hash.ts";
import { KeyPrefixes } from "./key-prefixes.ts";
import type { PostingList, Version } from "./posting-list.ts";
import { keyPrefix, rowOrder } from "./row-order.ts";

const KEYS_MIN = 256;
/** Of an account: nonce and balance. One with code has more, a slot less. */
const VALUE_BYTES = 16;
const NONE = -1;

/** Lengths in bytes of each key, and of the prefixes passed to `unwrittenKeysOf`. */
export type KeyShape = { readonly keyLength: number; readonly prefixLength?: number | undefined };

/** A version with its value, a view that holds until versions are removed; undefined: the key was deleted. */
export type PendingVersion = Version & { readonly value: Uint8Array | undefined };

/**
 * Versions of keys that no row has yet, with their values, in some arrays of numbers: with a list for each key, and a text that finds it, a
 * collection of the old generation visits several objects a version. Blocks come in order, and the newest ones can be removed again.
 */
export class PendingVersions {
  readonly #shape: KeyShape;
  readonly #keyLength: number;
  readonly #prefixes: KeyPrefixes | undefined;
  /** By key, in the order of their first versions: its bytes, their hash, and its newest version, or none once its rows are written. */
  #keys: Uint8Array;
  #hashes: Int32Array;
  #newest: Int32Array;
  #keyCount = 0;
  /** Open-addressed: key + 1. */
  #table: Int32Array;
  /** By version: its key, the version before, the number of its block and its position in the log. */
  #keyOf: Int32Array;
  #previous: Int32Array;
  #numbers: Float64Array;
  #positions: Float64Array;
  /** By version: where its value ends, and its length, or none where the key was deleted. Values are in the order of versions. */
  #valueEnds: Int32Array;
  #valueLengths: Int32Array;
  #values: Uint8Array;
  #size = 0;

  /** @param last whose arrays these ones are as large as: a block that makes them larger takes some milliseconds more */
  constructor(shape: KeyShape, last?: PendingVersions) {
    const { keyLength, prefixLength } = shape;
    this.#shape = shape;
    this.#keyLength = keyLength;
    const keys = last === undefined ? KEYS_MIN : last.#newest.length;
    this.#prefixes = prefixLength === undefined ? undefined : new KeyPrefixes(prefixLength, keys);
    const versions = last === undefined ? KEYS_MIN : last.#keyOf.length;
    this.#keys = new Uint8Array(keys * keyLength);
    this.#hashes = new Int32Array(keys);
    this.#newest = new Int32Array(keys);
    this.#table = new Int32Array(keys * 2);
    this.#keyOf = new Int32Array(versions);
    this.#previous = new Int32Array(versions);
    this.#numbers = new Float64Array(versions);
    this.#positions = new Float64Array(versions);
    this.#valueEnds = new Int32Array(versions);
    this.#valueLengths = new Int32Array(versions);
    this.#values = new Uint8Array(last === undefined ? KEYS_MIN * VALUE_BYTES : last.#values.length);
  }

  /** Versions, those of written keys included. */
  get size(): number {
    return this.#size;
  }

  get keyCount(): number {
    return this.#keyCount;
  }

  /** @param value is copied */
  add(key: Uint8Array, number: number, position: number, value: Uint8Array | undefined): void {
    if (this.#size === this.#keyOf.length) this.#growVersions();
    const hash = keyHash(key, 0, this.#keyLength);
    let index = this.#find(key, hash);
    if (index === NONE) index = this.#addKey(key, hash);
    const version = this.#size++;
    this.#keyOf[version] = index;
    this.#previous[version] = this.#newest[index]!;
    this.#numbers[version] = number;
    this.#positions[version] = position;
    const start = version === 0 ? 0 : this.#valueEnds[version - 1]!;
    const end = start + (value?.length ?? 0);
    if (end > this.#values.length) this.#values = grown(this.#values, new Uint8Array(end * 2));
    for (let at = start; at < end; at++) this.#values[at] = value![at - start]!;
    this.#valueEnds[version] = end;
    this.#valueLengths[version] = value?.length ?? NONE;
    this.#newest[index] = version;
  }

  /** The newest version of `key` that is not newer than block `number`. */
  versionAt(key: Uint8Array, number: number): PendingVersion | undefined {
    const index = this.#find(key);
    let version = index === NONE ? NONE : this.#newest[index]!;
    while (version !== NONE && this.#numbers[version]! > number) version = this.#previous[version]!;
    return version === NONE ? undefined : this.#version(version);
  }

  /** The newest version of key number `index`; undefined once it is written, or where the key was removed. */
  newest(index: number): PendingVersion | undefined {
    if (index >= this.#keyCount) return undefined;
    const version = this.#newest[index]!;
    return version === NONE ? undefined : this.#version(version);
  }

  has(key: Uint8Array): boolean {
    const index = this.#find(key);
    return index !== NONE && this.#newest[index] !== NONE;
  }

  /** Key number `index`, a view. */
  key(index: number): Uint8Array {
    return this.#keys.subarray(index * this.#keyLength, (index + 1) * this.#keyLength);
  }

  /** The versions of key number `index`; empty once they are written, or where it was removed. */
  list(index: number): PostingList {
    const list: PostingList = [];
    if (index >= this.#keyCount) return list;
    for (let at = this.#newest[index]!; at !== NONE; at = this.#previous[at]!) {
      list.push(this.#positions[at]!, this.#numbers[at]!);
    }
    return list.reverse();
  }

  /** Keys whose rows are not written, views. */
  *unwrittenKeys(): Generator<Uint8Array> {
    for (let index = 0; index < this.#keyCount; index++) {
      if (this.#newest[index] !== NONE) yield this.key(index);
    }
  }

  /** Those that begin with `prefix`. Linear in their number if `prefix` has the length of the shape's prefixes. */
  *unwrittenKeysOf(prefix: Uint8Array): Generator<Uint8Array> {
    if (this.#prefixes === undefined || prefix.length !== this.#shape.prefixLength) {
      for (const key of this.unwrittenKeys()) if (beginsWith(key, prefix)) yield key;
      return;
    }
    for (const index of this.#prefixes.find(this.#keyBytes(), prefix)) {
      if (this.#newest[index] !== NONE) yield this.key(index);
    }
  }

  /** Numbers of the keys in the order of their rows. */
  rowOrder(): Uint32Array {
    const length = this.#keyLength;
    return rowOrder(this.#keyCount, length, (index, offset) => keyPrefix(this.#keys, index * length + offset));
  }

  /** The rows have the versions of key number `index`. */
  setWritten(index: number): void {
    this.#newest[index] = NONE;
  }

  /** Removes the versions of blocks after `number`. */
  forgetAfter(number: number): void {
    while (this.#size > 0 && this.#numbers[this.#size - 1]! > number) {
      const version = --this.#size;
      const index = this.#keyOf[version]!;
      const previous = this.#previous[version]!;
      if (this.#newest[index] === version) this.#newest[index] = previous;
      // The first of its key, which is the last key: linear probing needs no marks for removed ones.
      if (previous === NONE) this.#removeKey(index);
    }
  }

  /** The versions of block `number` and those after it. */
  from(number: number): PendingVersions {
    const rest = new PendingVersions(this.#shape, this);
    for (let version = 0; version < this.#size; version++) {
      if (this.#numbers[version]! < number) continue;
      const { position, value } = this.#version(version);
      rest.add(this.key(this.#keyOf[version]!), this.#numbers[version]!, position, value);
    }
    return rest;
  }

  #keyBytes() {
    return { bytes: this.#keys, length: this.#keyLength };
  }

  #version(version: number): PendingVersion {
    const length = this.#valueLengths[version]!;
    const end = this.#valueEnds[version]!;
    return {
      number: this.#numbers[version]!,
      position: this.#positions[version]!,
      value: length === NONE ? undefined : this.#values.subarray(end - length, end),
    };
  }

  #find(key: Uint8Array, hash = keyHash(key, 0, this.#keyLength)): number {
    const mask = this.#table.length - 1;
    for (let at = hash & mask; this.#table[at] !== 0; at = (at + 1) & mask) {
      const index = this.#table[at]! - 1;
      if (this.#hashes[index] !== hash) continue;
      const start = index * this.#keyLength;
      let same = 0;
      while (same < this.#keyLength && this.#keys[start + same] === key[same]) same++;
      if (same === this.#keyLength) return index;
    }
    return NONE;
  }

  /** Number of `key`, which is new. */
  #addKey(key: Uint8Array, hash: number): number {
    if (this.#keyCount === this.#newest.length) this.#growKeys();
    const index = this.#keyCount++;
    this.#keys.set(key, index * this.#keyLength);
    this.#hashes[index] = hash;
    this.#newest[index] = NONE;
    this.#insert(index);
    this.#prefixes?.add(this.#keyBytes(), index);
    return index;
  }

  #insert(index: number): void {
    const mask = this.#table.length - 1;
    let at = this.#hashes[index]! & mask;
    while (this.#table[at] !== 0) at = (at + 1) & mask;
    this.#table[at] = index + 1;
  }

  #removeKey(index: number): void {
    const mask = this.#table.length - 1;
    let at = this.#hashes[index]! & mask;
    while (this.#table[at] !== index + 1) at = (at + 1) & mask;
    this.#table[at] = 0;
    this.#prefixes?.removeLast(this.#keyBytes(), index);
    this.#keyCount--;
  }

  #growKeys(): void {
    const length = this.#newest.length * 2;
    this.#keys = grown(this.#keys, new Uint8Array(length * this.#keyLength));
    this.#hashes = grown(this.#hashes, new Int32Array(length));
    this.#newest = grown(this.#newest, new Int32Array(length));
    this.#table = new Int32Array(length * 2);
    for (let index = 0; index < this.#keyCount; index++) this.#insert(index);
    this.#prefixes?.grow(this.#keyBytes(), this.#keyCount, length);
  }

  #growVersions(): void {
    const length = this.#keyOf.length * 2;
    this.#keyOf = grown(this.#keyOf, new Int32Array(length));
    this.#previous = grown(this.#previous, new Int32Array(length));
    this.#numbers = grown(this.#numbers, new Float64Array(length));
    this.#positions = grown(this.#positions, new Float64Array(length));
    this.#valueEnds = grown(this.#valueEnds, new Int32Array(length));
    this.#valueLengths = grown(this.#valueLengths, new Int32Array(length));
  }
}

/** `to`, which begins with `from` now. */
function grown<T extends Uint8Array | Int32Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function beginsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  return prefix.every((byte, index) => key[index] === byte);
}
