import { invariant } from "../../base/errors.ts";
import { concatBytes } from "../../base/primitives/bytes.ts";
import { HASH_LENGTH } from "./node.ts";

/** Nodes by hash, bounded. A node never changes, so neither trie nor place matters to what its hash names. */
export interface NodeCache {
  /** Memory that the cache takes now. */
  readonly bytes: number;
  /** RLP of the node that has `hash`, a view that stays valid. */
  get(hash: Uint8Array): Uint8Array | undefined;
  /** As `get`, of the node whose hash begins at `bytes[start]`, which a new one is about to replace. It is cached for a while still: other updates can begin at the same root. */
  take(bytes: Uint8Array, start: number): Uint8Array | undefined;
  set(hash: Uint8Array, rlp: Uint8Array): void;
  /** As `set`, for a new node: its hash and then its RLP are `bytes[start..end)`. */
  add(bytes: Uint8Array, start: number, end: number): void;
}

/** Smallest cache: a chunk has to hold the longest node that is cached. */
export const NODE_CACHE_BYTES_MIN = 64 << 10;

/** Places that one hash can take. */
const WAYS = 4;
/** Of a place in the index: two words of the hash, number of the chunk, place in it. */
const WORDS = 4;
const CHUNKS = 16;
const CHUNK_BYTES_MAX = 1 << 20;
/** Bytes of one node with its hash, in the mean; one place of the index for each. */
const NODE_BYTES = 200;
/** Longer ones, of values that are neither accounts nor slots, are not cached. */
const LENGTH_BITS = 11;
const LENGTH_LIMIT = 1 << LENGTH_BITS;
const START_MASK = CHUNK_BYTES_MAX - 1;
/** Beside place and length of a node in its chunk: it was taken. */
const TAKEN = 1 << 31;
const LENGTH_PREFIX = 2;
/** If at least this share of dropped chunks is still wanted, at most this share of each is moved to the new one. */
const MOVED_SHARE = 1 / 2;
const NODE_ROOM = LENGTH_PREFIX + HASH_LENGTH + LENGTH_LIMIT;

/**
 * Nodes in byte chunks that fill one after the other; the oldest chunk is dropped. A node found in the older half is written again, so
 * used nodes stay. When a chunk is dropped, its nodes that were never taken move to the new one, at most half of it if there are too many:
 * in a large state most nodes are used again after many blocks, and the chunks fill with versions of nodes near the root. The index is
 * set-associative like a processor's cache: the start of the hash selects a set of four places. No node is an object of its own, so the
 * garbage collector sees only some dozen arrays.
 *
 *     node    length of the RLP u16 little-endian ‖ hash 32 ‖ RLP
 *
 * A view keeps its chunk alive after the chunk was dropped, so no view should outlive an update.
 */
export class ChunkedNodeCache implements NodeCache {
  readonly #index: Int32Array;
  readonly #setMask: number;
  readonly #chunkCount: number;
  readonly #chunkBytes: number;
  readonly #chunks: Uint8Array[] = [];
  /** Where the nodes of each chunk end. */
  readonly #ends: Int32Array;
  /** The share of a dropped chunk that was still wanted, as a moving average over `#chunkCount` chunks. */
  #wantedShare = 0;
  /** Number of the chunk that is being filled, from 1; its array is `chunks[filling % chunkCount]`. */
  #filling = 0;
  #chunk = new Uint8Array(0);
  #used = 0;
  /** The place of the index that the last `take` found. */
  #found = 0;

  /** @param bytesMax of chunks and index together, NODE_CACHE_BYTES_MIN at least */
  constructor(bytesMax: number) {
    invariant(bytesMax >= NODE_CACHE_BYTES_MIN, "a cache has room for the longest node");
    const places = 2 ** Math.floor(Math.log2(bytesMax / (NODE_BYTES + WORDS * 4)));
    this.#index = new Int32Array(places * WORDS);
    this.#setMask = places / WAYS - 1;
    const bytes = bytesMax - this.#index.byteLength;
    this.#chunkCount = Math.max(CHUNKS, Math.ceil(bytes / CHUNK_BYTES_MAX));
    this.#chunkBytes = Math.floor(bytes / this.#chunkCount);
    this.#ends = new Int32Array(this.#chunkCount);
  }

  get bytes(): number {
    return this.#index.byteLength + Math.min(this.#filling, this.#chunkCount) * this.#chunkBytes;
  }

  get(hash: Uint8Array): Uint8Array | undefined {
    const rlp = this.take(hash, 0);
    if (rlp === undefined) return undefined;
    const at = this.#found;
    // Written again, a node of the older half stays.
    if (this.#index[at + 2]! <= this.#filling - this.#chunkCount / 2) this.#addParts(hash, rlp);
    else this.#index[at + 3]! &= ~TAKEN;
    return rlp;
  }

  /** Runs for each node that a block changes, as `add` does: neither calls a function. */
  take(bytes: Uint8Array, start: number): Uint8Array | undefined {
    const index = this.#index;
    const first = bytes[start]! | (bytes[start + 1]! << 8) | (bytes[start + 2]! << 16) | (bytes[start + 3]! << 24);
    const second = bytes[start + 4]! | (bytes[start + 5]! << 8) | (bytes[start + 6]! << 16) | (bytes[start + 7]! << 24);
    const set = (first & this.#setMask) * WAYS * WORDS;
    for (let at = set; at < set + WAYS * WORDS; at += WORDS) {
      if (index[at] !== first || index[at + 1] !== second) continue;
      const number = index[at + 2]!;
      if (number === 0 || number <= this.#filling - this.#chunkCount) continue;
      const chunk = this.#chunks[number % this.#chunkCount]!;
      const node = index[at + 3]!;
      const from = (node >>> LENGTH_BITS) & START_MASK;
      let same = 8;
      while (same < HASH_LENGTH && chunk[from + same] === bytes[start + same]) same++;
      if (same < HASH_LENGTH) continue;
      index[at + 3] = node | TAKEN;
      this.#found = at;
      return chunk.subarray(from + HASH_LENGTH, from + HASH_LENGTH + (node & (LENGTH_LIMIT - 1)));
    }
    return undefined;
  }

  set(hash: Uint8Array, rlp: Uint8Array): void {
    if (this.get(hash) === undefined) this.#addParts(hash, rlp);
  }

  #addParts(hash: Uint8Array, rlp: Uint8Array): void {
    this.add(concatBytes(hash, rlp), 0, HASH_LENGTH + rlp.length);
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start - HASH_LENGTH;
    if (length >= LENGTH_LIMIT) return;
    if (this.#used + LENGTH_PREFIX + end - start > this.#chunk.length) this.#beginChunk();
    const chunk = this.#chunk;
    const to = this.#used + LENGTH_PREFIX;
    chunk[to - 2] = length & 255;
    chunk[to - 1] = length >> 8;
    chunk.set(bytes.subarray(start, end), to);
    this.#used = to + end - start;
    const first = chunk[to]! | (chunk[to + 1]! << 8) | (chunk[to + 2]! << 16) | (chunk[to + 3]! << 24);
    // Of its set, a place whose node was taken, or the one whose chunk is the oldest.
    const index = this.#index;
    const set = (first & this.#setMask) * WAYS * WORDS;
    let oldest = set;
    for (let at = set; at < set + WAYS * WORDS; at += WORDS) {
      if (index[at + 3]! < 0) {
        oldest = at;
        break;
      }
      if (index[at + 2]! < index[oldest + 2]!) oldest = at;
    }
    index[oldest] = first;
    index[oldest + 1] = chunk[to + 4]! | (chunk[to + 5]! << 8) | (chunk[to + 6]! << 16) | (chunk[to + 7]! << 24);
    index[oldest + 2] = this.#filling;
    index[oldest + 3] = (to << LENGTH_BITS) | length;
  }

  /** Begins a chunk, which replaces the oldest. */
  #beginChunk(): void {
    this.#ends[this.#filling % this.#chunkCount] = this.#used;
    this.#filling++;
    const oldest = this.#chunks[this.#filling % this.#chunkCount];
    this.#chunk = new Uint8Array(this.#chunkBytes);
    this.#chunks[this.#filling % this.#chunkCount] = this.#chunk;
    this.#used = 0;
    if (oldest !== undefined) this.#moveFrom(oldest, this.#ends[this.#filling % this.#chunkCount]!);
  }

  /** Moves nodes of the chunk that goes to the one that begins, its last ones first: those before have been moved already. */
  #moveFrom(bytes: Uint8Array, end: number): void {
    const places: number[] = [];
    let wanted = 0;
    for (let at = 0; at < end; ) {
      const start = at + LENGTH_PREFIX;
      const length = bytes[at]! | (bytes[at + 1]! << 8);
      const place = this.#placeOf(
        word(bytes, start),
        this.#filling - this.#chunkCount,
        (start << LENGTH_BITS) | length,
      );
      const next = start + HASH_LENGTH + length;
      if (place >= 0) {
        places.push(place);
        wanted += next - at;
      }
      at = next;
    }
    this.#wantedShare += (wanted / this.#chunkBytes - this.#wantedShare) / this.#chunkCount;
    const share = this.#wantedShare < MOVED_SHARE ? 1 : MOVED_SHARE;
    const movedMax = Math.min(this.#chunkBytes * share, this.#chunkBytes - NODE_ROOM);
    for (let i = places.length - 1; i >= 0; i--) {
      const node = this.#index[places[i]! + 3]!;
      const start = startOf(node) - LENGTH_PREFIX;
      const size = LENGTH_PREFIX + HASH_LENGTH + lengthOf(node);
      if (this.#used + size > movedMax) return;
      this.#chunk.set(bytes.subarray(start, start + size), this.#used);
      this.#index[places[i]! + 2] = this.#filling;
      this.#index[places[i]! + 3] = ((this.#used + LENGTH_PREFIX) << LENGTH_BITS) | lengthOf(node);
      this.#used += size;
    }
  }

  /** The place of the index that refers to `node` of that chunk, or -1. @param first word of its hash */
  #placeOf(first: number, number: number, node: number): number {
    const index = this.#index;
    const start = (first & this.#setMask) * WAYS * WORDS;
    for (let at = start; at < start + WAYS * WORDS; at += WORDS) {
      if (index[at + 2] === number && index[at + 3] === node) return at;
    }
    return -1;
  }
}

function startOf(node: number): number {
  return (node >>> LENGTH_BITS) & START_MASK;
}

function lengthOf(node: number): number {
  return node & (LENGTH_LIMIT - 1);
}

function word(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
