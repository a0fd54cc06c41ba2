import { invariant } from "../errors.ts";
import { keccak256, keccak256Message, keccakMessage } from "../primitives/keccak.ts";
import { HASH_LENGTH } from "./node.ts";
import type { NodeCache } from "./node-cache.ts";
import type { TrieNode } from "./node-store.ts";

const CHUNK_MIN = 4_096;
const CHUNK_MAX = 1 << 18;

/**
 * The nodes that an update makes and those that it replaces, in the order in which that happens, in a few large arrays: an object
 * a node costs the garbage collector as much as the update itself.
 *
 *     entry   path (a nibble a byte) ‖ hash 32 ‖ RLP, empty for a node that is replaced
 */
export class NodeBatch implements Iterable<TrieNode> {
  readonly #owners: Uint8Array[] = [];
  readonly #chunks: Uint8Array[] = [];
  /** Where an entry begins in its chunk. */
  readonly #starts: number[] = [];
  readonly #pathLengths: number[] = [];
  readonly #lengths: number[] = [];
  #chunk = new Uint8Array(0);
  #used = 0;
  #bytes = 0;

  /** Entries, those of replaced nodes included. */
  get size(): number {
    return this.#starts.length;
  }

  /** Memory that the entries take. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a node whose RLP is the first `length` bytes of `rlp`.
   * @param owner as in TrieNodeReader
   * @param path whose first `depth` nibbles are the place
   * @returns its hash, a view
   */
  add(
    owner: Uint8Array,
    path: Uint8Array,
    depth: number,
    rlp: Uint8Array,
    length: number,
  ): Uint8Array {
    const start = this.#begin(owner, path, depth, length);
    const chunk = this.#chunk;
    const hashStart = start + depth;
    const bytes = length === rlp.length ? rlp : rlp.subarray(0, length);
    chunk.set(bytes, hashStart + HASH_LENGTH);
    if (rlp === keccakMessage) keccak256Message(length, chunk, hashStart);
    else chunk.set(keccak256(bytes), hashStart);
    return chunk.subarray(hashStart, hashStart + HASH_LENGTH);
  }

  /** Adds a node with its hash, as `EntrySink` says. */
  addHashed(
    owner: Uint8Array,
    bytes: Uint8Array,
    pathStart: number,
    depth: number,
    length: number,
  ): void {
    const size = depth + HASH_LENGTH + length;
    const start = this.#reserve(owner, depth, length);
    this.#chunk.set(bytes.subarray(pathStart, pathStart + size), start);
  }

  /** Adds the node of the last entry to `cache`. */
  cacheLast(cache: NodeCache): void {
    const index = this.size - 1;
    const start = this.#starts[index]! + this.#pathLengths[index]!;
    cache.add(this.#chunks[index]!, start, start + HASH_LENGTH + this.#lengths[index]!);
  }

  /** Notes that the node with `hash` is no longer at its place, unless it is added again later. */
  replace(owner: Uint8Array, path: Uint8Array, depth: number, hash: Uint8Array): void {
    const start = this.#begin(owner, path, depth, 0);
    const chunk = this.#chunk;
    for (let i = 0, at = start + depth; i < HASH_LENGTH; i++, at++) chunk[at] = hash[i]!;
  }

  /** Adds all entries of `batch` after its own. Both share their bytes afterwards. */
  append(batch: NodeBatch): void {
    for (let i = 0; i < batch.size; i++) {
      this.#owners.push(batch.#owners[i]!);
      this.#chunks.push(batch.#chunks[i]!);
      this.#starts.push(batch.#starts[i]!);
      this.#pathLengths.push(batch.#pathLengths[i]!);
      this.#lengths.push(batch.#lengths[i]!);
    }
    this.#bytes += batch.#bytes;
  }

  /** Forgets the entries from number `size` on. @param bytes memory of those before */
  truncate(size: number, bytes: number): void {
    for (const list of [
      this.#owners,
      this.#chunks,
      this.#starts,
      this.#pathLengths,
      this.#lengths,
    ]) {
      list.length = size;
    }
    this.#bytes = bytes;
  }

  /** True for a node that is replaced; false for one that is added. */
  isReplaced(index: number): boolean {
    return this.#lengths[index] === 0;
  }

  owner(index: number): Uint8Array {
    return this.#owners[index]!;
  }

  pathLength(index: number): number {
    return this.#pathLengths[index]!;
  }

  /** A view, as the two that follow. */
  path(index: number): Uint8Array {
    const start = this.#starts[index]!;
    return this.#chunks[index]!.subarray(start, start + this.#pathLengths[index]!);
  }

  hash(index: number): Uint8Array {
    const start = this.#starts[index]! + this.#pathLengths[index]!;
    return this.#chunks[index]!.subarray(start, start + HASH_LENGTH);
  }

  rlp(index: number): Uint8Array {
    const start = this.#starts[index]! + this.#pathLengths[index]! + HASH_LENGTH;
    return this.#chunks[index]!.subarray(start, start + this.#lengths[index]!);
  }

  /** The entry as an object; of a replaced node the RLP is empty. */
  at(index: number): TrieNode {
    return {
      owner: this.owner(index),
      path: this.path(index),
      hash: this.hash(index),
      rlp: this.rlp(index),
    };
  }

  /** True when the entry has this hash, without making a view. */
  hasHash(index: number, hash: Uint8Array): boolean {
    const chunk = this.#chunks[index]!;
    const start = this.#starts[index]! + this.#pathLengths[index]!;
    for (let i = 0; i < HASH_LENGTH; i++) if (chunk[start + i] !== hash[i]) return false;
    return true;
  }

  /** The first four bytes of the entry's hash. */
  hashWord(index: number): number {
    return word(this.#chunks[index]!, this.#starts[index]! + this.#pathLengths[index]!);
  }

  /** True when both entries are at the same place of the same trie. */
  isSamePlace(a: number, b: number): boolean {
    const length = this.#pathLengths[a]!;
    if (length !== this.#pathLengths[b]) return false;
    const [left, right] = [this.#chunks[a]!, this.#chunks[b]!];
    const [leftStart, rightStart] = [this.#starts[a]!, this.#starts[b]!];
    for (let i = 0; i < length; i++) {
      if (left[leftStart + i] !== right[rightStart + i]) return false;
    }
    const [owner, other] = [this.#owners[a]!, this.#owners[b]!];
    if (owner === other) return true;
    if (owner.length !== other.length) return false;
    for (let i = 0; i < owner.length; i++) if (owner[i] !== other[i]) return false;
    return true;
  }

  /** The same number for all entries of one place, and hardly ever for two of different ones. */
  placeWord(index: number): number {
    const owner = this.#owners[index]!;
    const chunk = this.#chunks[index]!;
    const start = this.#starts[index]!;
    // FNV-1a.
    let mixed = owner.length === 0 ? 0x811c9dc5 : word(owner, 0);
    for (let i = 0; i < this.#pathLengths[index]!; i++) {
      mixed = Math.imul(mixed ^ chunk[start + i]!, 0x01000193);
    }
    return mixed ^ (mixed >>> 15);
  }

  /** 29 bits that order places as far as their first nibbles say, storage tries after the account trie. */
  placePrefix(index: number): number {
    const owner = this.#owners[index]!;
    if (owner.length > 0) {
      return 2 ** 28 + (owner[0]! << 20) + (owner[1]! << 12) + (owner[2]! << 4) + (owner[3]! >> 4);
    }
    const chunk = this.#chunks[index]!;
    const start = this.#starts[index]!;
    const length = this.#pathLengths[index]!;
    let prefix = 0;
    for (let i = 0; i < 7; i++) prefix = prefix * 16 + (i < length ? chunk[start + i]! : 0);
    return prefix;
  }

  /** The nodes that were added. */
  *[Symbol.iterator](): Generator<TrieNode> {
    for (let i = 0; i < this.size; i++) {
      if (!this.isReplaced(i)) yield this.at(i);
    }
  }

  /** Makes room for an entry and writes its place; where it begins in the chunk. */
  #begin(owner: Uint8Array, path: Uint8Array, depth: number, length: number): number {
    invariant(depth <= path.length, "a place has no more nibbles than its path");
    const start = this.#reserve(owner, depth, length);
    const chunk = this.#chunk;
    for (let i = 0; i < depth; i++) chunk[start + i] = path[i]!;
    return start;
  }

  /** Makes room for an entry; where it begins in the chunk. */
  #reserve(owner: Uint8Array, depth: number, length: number): number {
    const needed = depth + HASH_LENGTH + length;
    if (this.#used + needed > this.#chunk.length) {
      const size = Math.min(Math.max(CHUNK_MIN, this.#chunk.length * 2), CHUNK_MAX);
      this.#chunk = new Uint8Array(Math.max(size, needed));
      this.#bytes += this.#chunk.length;
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += needed;
    this.#owners.push(owner);
    this.#chunks.push(this.#chunk);
    this.#starts.push(start);
    this.#pathLengths.push(depth);
    this.#lengths.push(length);
    return start;
  }
}

function word(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
