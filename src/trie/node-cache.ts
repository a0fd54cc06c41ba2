import { invariant } from "../errors.ts";
import { HASH_LENGTH } from "./node.ts";

/** Nodes by hash, bounded. A node never changes, so neither trie nor place matters to what its hash names. */
export interface NodeCache {
  /** Memory that the cache takes now. */
  readonly bytes: number;
  /** RLP of the node that has `hash`, a view that stays valid. */
  get(hash: Uint8Array): Uint8Array | undefined;
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

/**
 * Nodes in chunks of bytes that are filled one after the other; the oldest chunk goes. A node that is found in the older half is
 * written again, so what is used stays. The index is set-associative, as the caches of processors are: the start of the hash
 * picks a set of four places. Nothing here is an object a node: the collector sees some dozen arrays.
 *
 * A view of a dropped chunk stays valid; it keeps that chunk alive, so views are for the time of an update.
 * @param bytesMax of chunks and index together, NODE_CACHE_BYTES_MIN at least
 */
export function createNodeCache(bytesMax: number): NodeCache {
  invariant(bytesMax >= NODE_CACHE_BYTES_MIN, "a cache has room for the longest node");
  const places = 2 ** Math.floor(Math.log2(bytesMax / (NODE_BYTES + WORDS * 4)));
  const index = new Int32Array(places * WORDS);
  const setMask = places / WAYS - 1;
  const bytes = bytesMax - index.byteLength;
  const chunkCount = Math.max(CHUNKS, Math.floor(bytes / CHUNK_BYTES_MAX));
  const chunkBytes = Math.floor(bytes / chunkCount);
  const chunks: Uint8Array[] = [];
  /** Number of the chunk that is being filled, from 1; its array is `chunks[filling % chunkCount]`. */
  let filling = 0;
  let chunk = new Uint8Array(0);
  let used = 0;

  const find = (hash: Uint8Array): number => {
    const first = word(hash, 0);
    const second = word(hash, 4);
    const start = (first & setMask) * WAYS * WORDS;
    for (let at = start; at < start + WAYS * WORDS; at += WORDS) {
      if (index[at] !== first || index[at + 1] !== second) continue;
      const number = index[at + 2]!;
      if (number === 0 || number <= filling - chunkCount) continue;
      const bytes = chunks[number % chunkCount]!;
      const from = index[at + 3]! >>> LENGTH_BITS;
      let same = 8;
      while (same < HASH_LENGTH && bytes[from + same] === hash[same]) same++;
      if (same === HASH_LENGTH) return at;
    }
    return -1;
  };

  /** The place for a new hash: of its set, the one whose chunk is the oldest. */
  const oldestOf = (first: number): number => {
    const start = (first & setMask) * WAYS * WORDS;
    let oldest = start;
    for (let at = start + WORDS; at < start + WAYS * WORDS; at += WORDS) {
      if (index[at + 2]! < index[oldest + 2]!) oldest = at;
    }
    return oldest;
  };

  /** Room for a node of `length` bytes with its hash. */
  const reserve = (length: number): number => {
    const needed = HASH_LENGTH + length;
    if (used + needed > chunk.length) {
      filling++;
      chunk = new Uint8Array(chunkBytes);
      chunks[filling % chunkCount] = chunk;
      used = 0;
    }
    const start = used;
    used += needed;
    return start;
  };

  /** Lets the place `at` of the index refer to the node that was written at `start` of the chunk. */
  const refer = (at: number, start: number, length: number): void => {
    index[at] = word(chunk, start);
    index[at + 1] = word(chunk, start + 4);
    index[at + 2] = filling;
    index[at + 3] = (start << LENGTH_BITS) | length;
  };

  const write = (at: number, hash: Uint8Array, rlp: Uint8Array): void => {
    const start = reserve(rlp.length);
    for (let i = 0; i < HASH_LENGTH; i++) chunk[start + i] = hash[i]!;
    chunk.set(rlp, start + HASH_LENGTH);
    refer(at, start, rlp.length);
  };

  return {
    get bytes() {
      return index.byteLength + Math.min(filling, chunkCount) * chunkBytes;
    },
    get(hash) {
      const at = find(hash);
      if (at < 0) return undefined;
      const number = index[at + 2]!;
      const from = (index[at + 3]! >>> LENGTH_BITS) + HASH_LENGTH;
      const length = index[at + 3]! & (2 ** LENGTH_BITS - 1);
      const rlp = chunks[number % chunkCount]!.subarray(from, from + length);
      if (number <= filling - chunkCount / 2) write(at, hash, rlp);
      return rlp;
    },
    set(hash, rlp) {
      if (rlp.length >= 2 ** LENGTH_BITS || find(hash) >= 0) return;
      write(oldestOf(word(hash, 0)), hash, rlp);
    },
    add(bytes, start, end) {
      const length = end - start - HASH_LENGTH;
      if (length >= 2 ** LENGTH_BITS) return;
      const to = reserve(length);
      chunk.set(bytes.subarray(start, end), to);
      refer(oldestOf(word(bytes, start)), to, length);
    },
  };
}

function word(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
