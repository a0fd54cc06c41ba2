import { invariant } from "../errors.ts";
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
/** So much of a chunk that goes is moved where more than that is wanted of all of them. */
const MOVED_SHARE = 1 / 2;
const NODE_ROOM = LENGTH_PREFIX + HASH_LENGTH + LENGTH_LIMIT;

/**
 * Nodes in chunks of bytes that are filled one after the other; the oldest chunk goes. A node that is found in the older half is
 * written again, so what is used stays. Of a chunk that goes, nodes that were not taken are written to the new one, half of it at most
 * where there are too many of them: in a large state most nodes are used again after many blocks, and what fills the chunks are versions
 * of those near the root. The index is set-associative, as the caches of processors are: the start of the hash picks a set of four
 * places. Nothing here is an object a node: the collector sees some dozen arrays.
 *
 *     node    length of the RLP u16 little-endian ‖ hash 32 ‖ RLP
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
  const chunkCount = Math.max(CHUNKS, Math.ceil(bytes / CHUNK_BYTES_MAX));
  const chunkBytes = Math.floor(bytes / chunkCount);
  const chunks: Uint8Array[] = [];
  /** Where the nodes of each chunk end. */
  const ends = new Int32Array(chunkCount);
  /** How much of a chunk that went was still wanted, in the mean of as many as there are. */
  let wantedShare = 0;
  /** Number of the chunk that is being filled, from 1; its array is `chunks[filling % chunkCount]`. */
  let filling = 0;
  let chunk = new Uint8Array(0);
  let used = 0;

  const find = (hash: Uint8Array, offset = 0): number => {
    const first = word(hash, offset);
    const second = word(hash, offset + 4);
    const start = (first & setMask) * WAYS * WORDS;
    for (let at = start; at < start + WAYS * WORDS; at += WORDS) {
      if (index[at] !== first || index[at + 1] !== second) continue;
      const number = index[at + 2]!;
      if (number === 0 || number <= filling - chunkCount) continue;
      const bytes = chunks[number % chunkCount]!;
      const from = startOf(index[at + 3]!);
      let same = 8;
      while (same < HASH_LENGTH && bytes[from + same] === hash[offset + same]) same++;
      if (same === HASH_LENGTH) return at;
    }
    return -1;
  };

  /** The place for a new hash: of its set, one whose node was taken, or the one whose chunk is the oldest. */
  const oldestOf = (first: number): number => {
    const start = (first & setMask) * WAYS * WORDS;
    let oldest = start;
    for (let at = start; at < start + WAYS * WORDS; at += WORDS) {
      if (index[at + 3]! < 0) return at;
      if (index[at + 2]! < index[oldest + 2]!) oldest = at;
    }
    return oldest;
  };

  /** Begins a chunk, in place of the oldest one. */
  const beginChunk = (): void => {
    ends[filling % chunkCount] = used;
    filling++;
    const oldest = chunks[filling % chunkCount];
    chunk = new Uint8Array(chunkBytes);
    chunks[filling % chunkCount] = chunk;
    used = 0;
    if (oldest !== undefined) moveFrom(oldest, ends[filling % chunkCount]!);
  };

  /** Moves nodes of the chunk that goes to the one that begins, its last ones first: those before have been moved already. */
  const moveFrom = (bytes: Uint8Array, end: number): void => {
    const places: number[] = [];
    let wanted = 0;
    for (let at = 0; at < end; ) {
      const start = at + LENGTH_PREFIX;
      const length = bytes[at]! | (bytes[at + 1]! << 8);
      const place = placeOf(
        word(bytes, start),
        filling - chunkCount,
        (start << LENGTH_BITS) | length,
      );
      const next = start + HASH_LENGTH + length;
      if (place >= 0) {
        places.push(place);
        wanted += next - at;
      }
      at = next;
    }
    wantedShare += (wanted / chunkBytes - wantedShare) / chunkCount;
    const share = wantedShare < MOVED_SHARE ? 1 : MOVED_SHARE;
    const movedMax = Math.min(chunkBytes * share, chunkBytes - NODE_ROOM);
    for (let i = places.length - 1; i >= 0; i--) {
      const node = index[places[i]! + 3]!;
      const start = startOf(node) - LENGTH_PREFIX;
      const size = LENGTH_PREFIX + HASH_LENGTH + lengthOf(node);
      if (used + size > movedMax) return;
      chunk.set(bytes.subarray(start, start + size), used);
      refer(places[i]!, used + LENGTH_PREFIX, lengthOf(node));
      used += size;
    }
  };

  /** The place of the index that refers to `node` of that chunk, -1 where none does. @param first word of its hash */
  const placeOf = (first: number, number: number, node: number): number => {
    const start = (first & setMask) * WAYS * WORDS;
    for (let at = start; at < start + WAYS * WORDS; at += WORDS) {
      if (index[at + 2] === number && index[at + 3] === node) return at;
    }
    return -1;
  };

  /** Room for a node of `length` bytes with its hash. */
  const reserve = (length: number): number => {
    const needed = LENGTH_PREFIX + HASH_LENGTH + length;
    if (used + needed > chunk.length) beginChunk();
    chunk[used] = length & 255;
    chunk[used + 1] = length >> 8;
    const start = used + LENGTH_PREFIX;
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

  /** RLP of the node that the place `at` of the index refers to. */
  const viewAt = (at: number): Uint8Array => {
    const node = index[at + 3]!;
    const from = startOf(node) + HASH_LENGTH;
    return chunks[index[at + 2]! % chunkCount]!.subarray(from, from + lengthOf(node));
  };

  return {
    get bytes() {
      return index.byteLength + Math.min(filling, chunkCount) * chunkBytes;
    },
    get(hash) {
      const at = find(hash);
      if (at < 0) return undefined;
      const rlp = viewAt(at);
      if (index[at + 2]! <= filling - chunkCount / 2) write(at, hash, rlp);
      else index[at + 3]! &= ~TAKEN;
      return rlp;
    },
    take(bytes, start) {
      const at = find(bytes, start);
      if (at < 0) return undefined;
      index[at + 3]! |= TAKEN;
      return viewAt(at);
    },
    set(hash, rlp) {
      if (rlp.length >= LENGTH_LIMIT || find(hash) >= 0) return;
      write(oldestOf(word(hash, 0)), hash, rlp);
    },
    add(bytes, start, end) {
      const length = end - start - HASH_LENGTH;
      if (length >= LENGTH_LIMIT) return;
      const to = reserve(length);
      chunk.set(bytes.subarray(start, end), to);
      refer(oldestOf(word(bytes, start)), to, length);
    },
  };
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
