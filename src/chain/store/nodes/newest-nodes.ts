import { invariant } from "../../../base/errors.ts";
import { copyShared } from "../../../base/primitives/slab.ts";
import { byPrefix } from "../../../store/storage/row-order.ts";
import { HASH_LENGTH } from "../../../store/trie/node.ts";
import type { NodeBatch } from "../../../store/trie/node-batch.ts";
import type { WaitingNode, WaitingNodes } from "./pending-nodes.ts";

const TABLE_MIN = 1_024;
const PLACES_MIN = 512;
const CHUNK_BITS = 20;
const CHUNK_BYTES = 1 << CHUNK_BITS;
/** A branch of hashes: what grows has at most this length. */
const NODE_LENGTH_MAX = 532;

/** Numbers of a place: where owner and path are, their lengths, where the node is, its room and its length, and how its row is sorted. */
const KEY = 0;
const OWNER_LENGTH = 1;
const PATH_LENGTH = 2;
const NODE = 3;
const ROOM = 4;
const LENGTH = 5;
const PREFIX = 6;
const COLUMNS = 7;
/** Of the columns, and of the table, which is at most half full. */
const BYTES_PER_PLACE = (COLUMNS + 4) * Int32Array.BYTES_PER_ELEMENT;

/**
 * The newest trie nodes of the blocks that no merge has written. A block's node overwrites the previous node at its place, so after some tens
 * of blocks these take a quarter of the memory of all versions (`PendingNodes`). Blocks cannot be removed again.
 *
 *     key     owner ‖ path (a nibble a byte)
 *     node    hash 32 ‖ RLP, empty for a removed node ‖ room for a longer one
 */
export class NewestNodes implements WaitingNodes {
  readonly #chunks: Uint8Array[] = [];
  #used = CHUNK_BYTES;
  #columns: Int32Array;
  #places = 0;
  /** Open-addressed: place + 1. */
  #table: Int32Array;

  /** @param last whose tables these ones are as large as */
  constructor(last?: NewestNodes) {
    this.#columns = new Int32Array(last === undefined ? PLACES_MIN * COLUMNS : last.#columns.length);
    this.#table = new Int32Array(last === undefined ? TABLE_MIN : last.#table.length);
  }

  get bytes(): number {
    return this.#chunks.length * CHUNK_BYTES + this.#places * BYTES_PER_PLACE;
  }

  get places(): number {
    return this.#places;
  }

  add(_number: number, batch: NodeBatch): void {
    const { size } = batch;
    for (let entry = 0; entry < size; entry++) {
      const place = this.#knownPlace(batch, entry);
      if (batch.isReplaced(entry)) this.#columns[place * COLUMNS + LENGTH] = 0;
      else this.#write(place, batch.bytesOf(entry), batch.hashStart(entry), batch.length(entry));
    }
  }

  find(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    const mask = this.#table.length - 1;
    let at = placeWord(owner, path, 0, path.length) & mask;
    for (; this.#table[at] !== 0; at = (at + 1) & mask) {
      const place = this.#table[at]! - 1;
      if (this.#isAt(place, owner, path, 0, path.length)) return this.#withHash(place, hash);
    }
    return undefined;
  }

  node(place: number): WaitingNode {
    const columns = this.#columns;
    const row = place * COLUMNS;
    const length = columns[row + LENGTH]!;
    const key = columns[row + KEY]!;
    const path = key + columns[row + OWNER_LENGTH]!;
    const node = columns[row + NODE]!;
    return {
      owner: this.#view(key, columns[row + OWNER_LENGTH]!),
      path: this.#view(path, columns[row + PATH_LENGTH]!),
      newest:
        length === 0 ? undefined : { hash: this.#view(node, HASH_LENGTH), rlp: this.#view(node + HASH_LENGTH, length) },
    };
  }

  #view(position: number, length: number): Uint8Array {
    const start = position & (CHUNK_BYTES - 1);
    return this.#chunkAt(position).subarray(start, start + length);
  }

  #chunkAt(position: number): Uint8Array {
    return this.#chunks[position >>> CHUNK_BITS]!;
  }

  sortedPlaces(): Uint32Array {
    return byPrefix(this.#places, (place) => this.#columns[place * COLUMNS + PREFIX]!);
  }

  /** A copy of the RLP at `place` where it has `hash`: later blocks write over it. */
  #withHash(place: number, hash: Uint8Array): Uint8Array | undefined {
    const row = place * COLUMNS;
    const length = this.#columns[row + LENGTH]!;
    if (length === 0) return undefined;
    const position = this.#columns[row + NODE]!;
    const chunk = this.#chunkAt(position);
    const start = position & (CHUNK_BYTES - 1);
    for (let i = 0; i < HASH_LENGTH; i++) if (chunk[start + i] !== hash[i]) return undefined;
    return copyShared(chunk, start + HASH_LENGTH, start + HASH_LENGTH + length);
  }

  /** @param bytes that have the hash and then the RLP, of `length`, at `from` */
  #write(place: number, bytes: Uint8Array, from: number, length: number): void {
    const columns = this.#columns;
    const row = place * COLUMNS;
    const room = columns[row + ROOM]!;
    if (length > room) {
      // Half as much again for one that has grown: branches get one child after the other.
      const grown = room === 0 ? length : Math.min(Math.ceil(length * 1.5), NODE_LENGTH_MAX);
      columns[row + ROOM] = Math.max(length, grown);
      columns[row + NODE] = this.#reserve(HASH_LENGTH + columns[row + ROOM]!);
    }
    columns[row + LENGTH] = length;
    const position = columns[row + NODE]!;
    this.#chunkAt(position).set(bytes.subarray(from, from + HASH_LENGTH + length), position & (CHUNK_BYTES - 1));
  }

  /** Position of `length` bytes that are used from now on. */
  #reserve(length: number): number {
    invariant(length < CHUNK_BYTES, "a node of a state trie is short");
    // No position is the end of a chunk, not even that of the root's key, which has no bytes.
    if (this.#used + length >= CHUNK_BYTES) {
      this.#chunks.push(new Uint8Array(CHUNK_BYTES));
      this.#used = 0;
    }
    const position = (this.#chunks.length - 1) * CHUNK_BYTES + this.#used;
    this.#used += length;
    return position;
  }

  /** Number of the place of `entry`, a new one if need be. */
  #knownPlace(batch: NodeBatch, entry: number): number {
    if (this.#places * 2 >= this.#table.length) this.#growTable();
    const owner = batch.owner(entry);
    const bytes = batch.bytesOf(entry);
    const length = batch.pathLength(entry);
    const start = batch.hashStart(entry) - length;
    const mask = this.#table.length - 1;
    let at = placeWord(owner, bytes, start, length) & mask;
    for (; this.#table[at] !== 0; at = (at + 1) & mask) {
      const place = this.#table[at]! - 1;
      if (this.#isAt(place, owner, bytes, start, length)) return place;
    }
    const place = this.#places++;
    this.#table[at] = place + 1;
    const row = place * COLUMNS;
    if (row === this.#columns.length) {
      const columns = new Int32Array(this.#columns.length * 2);
      columns.set(this.#columns);
      this.#columns = columns;
    }
    const columns = this.#columns;
    const key = this.#reserve(owner.length + length);
    columns[row + KEY] = key;
    columns[row + OWNER_LENGTH] = owner.length;
    columns[row + PATH_LENGTH] = length;
    columns[row + ROOM] = 0;
    columns[row + PREFIX] = batch.placePrefix(entry);
    const chunk = this.#chunkAt(key);
    const to = key & (CHUNK_BYTES - 1);
    chunk.set(owner, to);
    for (let i = 0; i < length; i++) chunk[to + owner.length + i] = bytes[start + i]!;
    return place;
  }

  /** True when the path `bytes[start..start + length)` of the trie of `owner` is that of `place`. */
  #isAt(place: number, owner: Uint8Array, bytes: Uint8Array, start: number, length: number): boolean {
    const columns = this.#columns;
    const row = place * COLUMNS;
    if (columns[row + PATH_LENGTH] !== length || columns[row + OWNER_LENGTH] !== owner.length) return false;
    const position = columns[row + KEY]!;
    const chunk = this.#chunkAt(position);
    const ownerStart = position & (CHUNK_BYTES - 1);
    const pathStart = ownerStart + owner.length;
    for (let i = 0; i < length; i++) if (chunk[pathStart + i] !== bytes[start + i]) return false;
    for (let i = 0; i < owner.length; i++) if (chunk[ownerStart + i] !== owner[i]) return false;
    return true;
  }

  #growTable(): void {
    this.#table = new Int32Array(this.#table.length * 2);
    const mask = this.#table.length - 1;
    for (let place = 0; place < this.#places; place++) {
      const { owner, path } = this.node(place);
      let at = placeWord(owner, path, 0, path.length) & mask;
      while (this.#table[at] !== 0) at = (at + 1) & mask;
      this.#table[at] = place + 1;
    }
  }
}

/** The same number for all nodes of a place, and hardly ever for two of different ones. The path is `bytes[start..start + length)`. */
function placeWord(owner: Uint8Array, bytes: Uint8Array, start: number, length: number): number {
  // FNV-1a.
  let mixed = owner.length === 0 ? 0x811c9dc5 : owner[0]! | (owner[1]! << 8) | (owner[2]! << 16) | (owner[3]! << 24);
  for (let i = 0; i < length; i++) {
    mixed = Math.imul(mixed ^ bytes[start + i]!, 0x01000193);
  }
  return mixed ^ (mixed >>> 15);
}
