import { InvariantError } from "../../base/errors.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { keccak256, keccak256Message, keccakMessage } from "../../base/primitives/keccak.ts";
import { HASH_LENGTH } from "./node.ts";
import type { NodeCache } from "./node-cache.ts";
import type { TrieNode } from "./node-store.ts";

const CHUNK_MIN = 4_096;
const CHUNK_MAX = 1 << 18;
const ENTRIES_MIN = 16;

/** Of the node that is being added. */
const digest = new Uint8Array(HASH_LENGTH);

/**
 * Numbers of an entry: which of the owners and chunks, where it begins in the chunk, length of the path and of the RLP, one that all nodes of a
 * place have and hardly ever those of another, one that each path of up to two nibbles has for itself, and the first four bytes of the hash.
 */
export const OWNER = 0;
const CHUNK = 1;
const START = 2;
export const PATH_LENGTH = 3;
/** 0: a node that is replaced. */
export const LENGTH = 4;
export const PLACE = 5;
export const SHORT_PATH = 6;
export const HASH_WORD = 7;
export const COLUMNS = 8;

/**
 * The nodes that an update creates and replaces, in order, in a few large arrays: one object for each node would cost the garbage
 * collector as much as the update itself.
 *
 *     entry   path (a nibble a byte) ‖ hash 32 ‖ RLP, empty for a replaced node
 */
export class NodeBatch implements Iterable<TrieNode> {
  #columns = new Int32Array(COLUMNS * ENTRIES_MIN);
  #size = 0;
  readonly #owners: Uint8Array[] = [];
  readonly #chunks: Uint8Array[] = [];
  /** The last of the chunks where this batch fills it itself, and so many bytes of it. */
  #chunk = EMPTY_BYTES;
  #used = 0;
  #bytes = 0;

  /** Entries, those of replaced nodes included. */
  get size(): number {
    return this.#size;
  }

  /** `COLUMNS` numbers by entry, for what runs for each node of each block; the next entry may move them. */
  get columns(): Int32Array {
    return this.#columns;
  }

  /** Memory that the entries take. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a node whose RLP is the first `length` bytes of `rlp`.
   * @param owner as in TrieNodeReader
   * @param path whose first `depth` nibbles are the place
   * @param cache gets it too
   * @returns its hash, a view
   */
  add(
    owner: Uint8Array,
    path: Uint8Array,
    depth: number,
    rlp: Uint8Array,
    length: number,
    cache?: NodeCache,
  ): Uint8Array {
    const bytes = length === rlp.length ? rlp : rlp.subarray(0, length);
    let hash: Uint8Array = digest;
    if (rlp === keccakMessage) keccak256Message(length, digest, 0);
    else hash = keccak256(bytes);
    const start = this.note(owner, path, depth, hash, 0, length);
    const chunk = this.#chunk;
    const hashStart = start + depth;
    const end = hashStart + HASH_LENGTH + length;
    chunk.set(bytes, hashStart + HASH_LENGTH);
    cache?.add(chunk, hashStart, end);
    return chunk.subarray(hashStart, hashStart + HASH_LENGTH);
  }

  /** Adds a node with its hash, as `EntrySink` says. */
  addHashed(owner: Uint8Array, bytes: Uint8Array, pathStart: number, depth: number, length: number): void {
    const rlpStart = pathStart + depth + HASH_LENGTH;
    const start = this.note(owner, bytes, depth, bytes, pathStart + depth, length, pathStart);
    this.#chunk.set(bytes.subarray(rlpStart, rlpStart + length), start + depth + HASH_LENGTH);
  }

  /** Adds the node of the last entry to `cache`. */
  cacheLast(cache: NodeCache): void {
    const columns = this.#columns;
    const row = (this.#size - 1) * COLUMNS;
    const start = columns[row + START]! + columns[row + PATH_LENGTH]!;
    cache.add(this.#chunks[columns[row + CHUNK]!]!, start, start + HASH_LENGTH + columns[row + LENGTH]!);
  }

  /**
   * Notes that the node with the hash at `hashes[hashStart]` is no longer at the `depth` nibbles of `path` from `pathStart` on, unless it is
   * added again later. With the `length` of its RLP, which the caller then writes, it is a new node.
   * @returns where the entry begins in its chunk
   */
  note(
    owner: Uint8Array,
    path: Uint8Array,
    depth: number,
    hashes: Uint8Array,
    hashStart = 0,
    length = 0,
    pathStart = 0,
  ): number {
    if (pathStart + depth > path.length) throw new InvariantError("a place has no more nibbles than its path");
    const needed = depth + HASH_LENGTH + length;
    if (this.#used + needed > this.#chunk.length || this.#chunk.length === 0) {
      const size = Math.min(Math.max(CHUNK_MIN, this.#chunk.length * 2), CHUNK_MAX);
      this.#chunk = new Uint8Array(Math.max(size, needed));
      this.#bytes += this.#chunk.length;
      this.#used = 0;
      this.#chunks.push(this.#chunk);
    }
    const owners = this.#owners;
    if (owners.length === 0 || owners[owners.length - 1] !== owner) owners.push(owner);
    const start = this.#used;
    this.#used += needed;
    if ((this.#size + 1) * COLUMNS > this.#columns.length) this.#grow(this.#size + 1);
    const chunk = this.#chunk;
    let shortPath = 1;
    // FNV-1a.
    let word = owner.length === 0 ? 0x811c9dc5 : owner[0]! | (owner[1]! << 8) | (owner[2]! << 16) | (owner[3]! << 24);
    for (let i = 0; i < depth; i++) {
      const nibble = path[pathStart + i]!;
      chunk[start + i] = nibble;
      shortPath = (shortPath << 4) | nibble;
      word = Math.imul(word ^ nibble, 0x01000193);
    }
    const columns = this.#columns;
    const row = this.#size++ * COLUMNS;
    columns[row + OWNER] = owners.length - 1;
    columns[row + CHUNK] = this.#chunks.length - 1;
    columns[row + START] = start;
    columns[row + PATH_LENGTH] = depth;
    columns[row + LENGTH] = length;
    columns[row + PLACE] = word ^ (word >>> 15);
    columns[row + SHORT_PATH] = shortPath;
    const to = start + depth;
    for (let i = 0; i < HASH_LENGTH; i++) chunk[to + i] = hashes[hashStart + i]!;
    columns[row + HASH_WORD] = chunk[to]! | (chunk[to + 1]! << 8) | (chunk[to + 2]! << 16) | (chunk[to + 3]! << 24);
    return start;
  }

  /** Adds all entries of `batch` after its own. Both share their bytes afterwards. */
  append(batch: NodeBatch): void {
    const [owners, chunks] = [this.#owners.length, this.#chunks.length];
    for (const owner of batch.#owners) this.#owners.push(owner);
    for (const chunk of batch.#chunks) this.#chunks.push(chunk);
    this.#chunk = EMPTY_BYTES;
    this.#grow(this.#size + batch.#size);
    const [from, to] = [batch.#columns, this.#columns];
    const end = batch.#size * COLUMNS;
    for (let at = 0, row = this.#size * COLUMNS; at < end; at += COLUMNS, row += COLUMNS) {
      to[row + OWNER] = from[at + OWNER]! + owners;
      to[row + CHUNK] = from[at + CHUNK]! + chunks;
      to[row + START] = from[at + START]!;
      to[row + PATH_LENGTH] = from[at + PATH_LENGTH]!;
      to[row + LENGTH] = from[at + LENGTH]!;
      to[row + PLACE] = from[at + PLACE]!;
      to[row + SHORT_PATH] = from[at + SHORT_PATH]!;
      to[row + HASH_WORD] = from[at + HASH_WORD]!;
    }
    this.#size += batch.#size;
    this.#bytes += batch.#bytes;
  }

  /** Forgets the entries from number `size` on. @param bytes memory of those before */
  truncate(size: number, bytes: number): void {
    if (size === this.#size) return;
    this.#size = size;
    const last = (size - 1) * COLUMNS;
    this.#owners.length = size === 0 ? 0 : this.#columns[last + OWNER]! + 1;
    this.#chunks.length = size === 0 ? 0 : this.#columns[last + CHUNK]! + 1;
    this.#chunk = EMPTY_BYTES;
    this.#bytes = bytes;
  }

  /** True for a node that is replaced; false for one that is added. */
  isReplaced(index: number): boolean {
    return this.#columns[index * COLUMNS + LENGTH] === 0;
  }

  owner(index: number): Uint8Array {
    return this.#owners[this.#columns[index * COLUMNS + OWNER]!]!;
  }

  pathLength(index: number): number {
    return this.#columns[index * COLUMNS + PATH_LENGTH]!;
  }

  /** A view, as the two that follow. */
  path(index: number): Uint8Array {
    const start = this.#start(index);
    return this.#chunkOf(index).subarray(start, start + this.pathLength(index));
  }

  hash(index: number): Uint8Array {
    const columns = this.#columns;
    const row = index * COLUMNS;
    const start = columns[row + START]! + columns[row + PATH_LENGTH]!;
    return this.#chunks[columns[row + CHUNK]!]!.subarray(start, start + HASH_LENGTH);
  }

  rlp(index: number): Uint8Array {
    const start = this.hashStart(index) + HASH_LENGTH;
    return this.#chunkOf(index).subarray(start, start + this.length(index));
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
    const columns = this.#columns;
    const row = index * COLUMNS;
    const chunk = this.#chunks[columns[row + CHUNK]!]!;
    const start = columns[row + START]! + columns[row + PATH_LENGTH]!;
    for (let i = 0; i < HASH_LENGTH; i++) if (chunk[start + i] !== hash[i]) return false;
    return true;
  }

  /** True when the entry has the hash of entry `other` of `batch`. */
  hasHashOf(index: number, batch: NodeBatch, other: number): boolean {
    const row = index * COLUMNS;
    const chunk = this.#chunks[this.#columns[row + CHUNK]!]!;
    const start = this.#columns[row + START]! + this.#columns[row + PATH_LENGTH]!;
    const otherRow = other * COLUMNS;
    const otherChunk = batch.#chunks[batch.#columns[otherRow + CHUNK]!]!;
    const otherStart = batch.#columns[otherRow + START]! + batch.#columns[otherRow + PATH_LENGTH]!;
    for (let i = 0; i < HASH_LENGTH; i++) if (chunk[start + i] !== otherChunk[otherStart + i]) return false;
    return true;
  }

  /** True when both entries are at the same place of the same trie. */
  isSamePlace(a: number, b: number): boolean {
    const columns = this.#columns;
    const [rowA, rowB] = [a * COLUMNS, b * COLUMNS];
    const length = columns[rowA + PATH_LENGTH]!;
    if (length !== columns[rowB + PATH_LENGTH]) return false;
    const left = this.#chunks[columns[rowA + CHUNK]!]!;
    const right = this.#chunks[columns[rowB + CHUNK]!]!;
    const leftStart = columns[rowA + START]!;
    const rightStart = columns[rowB + START]!;
    for (let i = 0; i < length; i++) {
      if (left[leftStart + i] !== right[rightStart + i]) return false;
    }
    const owner = this.#owners[columns[rowA + OWNER]!]!;
    const other = this.#owners[columns[rowB + OWNER]!]!;
    if (owner === other) return true;
    if (owner.length !== other.length) return false;
    for (let i = 0; i < owner.length; i++) if (owner[i] !== other[i]) return false;
    return true;
  }

  /** The array that has the entry: its path, and at `hashStart` its hash and then its RLP, of `length` bytes. */
  bytesOf(index: number): Uint8Array {
    return this.#chunkOf(index);
  }

  hashStart(index: number): number {
    const row = index * COLUMNS;
    return this.#columns[row + START]! + this.#columns[row + PATH_LENGTH]!;
  }

  /** Bytes of the RLP. */
  length(index: number): number {
    return this.#columns[index * COLUMNS + LENGTH]!;
  }

  /** 29 bits that order places as far as their first nibbles say, storage tries after the account trie. */
  placePrefix(index: number): number {
    const owner = this.owner(index);
    if (owner.length > 0) {
      return 0x10000000 + (owner[0]! << 20) + (owner[1]! << 12) + (owner[2]! << 4) + (owner[3]! >> 4);
    }
    const chunk = this.#chunkOf(index);
    const start = this.#start(index);
    const length = this.pathLength(index);
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

  /** Makes room for `size` entries. */
  #grow(size: number): void {
    if (size * COLUMNS <= this.#columns.length) return;
    const columns = new Int32Array(Math.max(size * COLUMNS, this.#columns.length * 2));
    columns.set(this.#columns);
    this.#columns = columns;
  }

  #chunkOf(index: number): Uint8Array {
    return this.#chunks[this.#columns[index * COLUMNS + CHUNK]!]!;
  }

  #start(index: number): number {
    return this.#columns[index * COLUMNS + START]!;
  }
}
