import { invariant } from "../errors.ts";

/** Nodes by hash, bounded. A node never changes, so neither trie nor place matters to what its hash names. */
export interface NodeCache {
  /** RLP of the node that has `hash`. */
  get(hash: Uint8Array): Uint8Array | undefined;
  set(hash: Uint8Array, rlp: Uint8Array): void;
}

/** Places that one hash can take. */
const WAYS = 4;
const WORDS = 8;

/**
 * A set-associative cache, as processors have: the start of the hash picks a set of four places, and the one
 * not used for the longest time makes room. A Map in order of use costs a string per look-up and is several times slower.
 * @param entriesMax a power of two, 4 at least; a node has at most 532 bytes, in the mean some 150
 */
export function createNodeCache(entriesMax: number): NodeCache {
  invariant(entriesMax >= WAYS && (entriesMax & (entriesMax - 1)) === 0, "size is a power of two");
  const hashes = new Int32Array(entriesMax * WORDS);
  const nodes: (Uint8Array | undefined)[] = new Array(entriesMax).fill(undefined);
  const usedAt = new Float64Array(entriesMax);
  const setMask = entriesMax / WAYS - 1;
  let clock = 0;

  const firstOf = (hash: Uint8Array): number => (word(hash, 0) & setMask) * WAYS;

  const isAt = (place: number, hash: Uint8Array): boolean => {
    for (let i = 0; i < WORDS; i++) {
      if (hashes[place * WORDS + i] !== word(hash, 4 * i)) return false;
    }
    return nodes[place] !== undefined;
  };

  return {
    get(hash) {
      const first = firstOf(hash);
      for (let place = first; place < first + WAYS; place++) {
        if (isAt(place, hash)) {
          usedAt[place] = ++clock;
          return nodes[place];
        }
      }
      return undefined;
    },
    set(hash, rlp) {
      const first = firstOf(hash);
      let oldest = first;
      for (let place = first; place < first + WAYS; place++) {
        if (isAt(place, hash)) {
          oldest = place;
          break;
        }
        if (usedAt[place]! < usedAt[oldest]!) oldest = place;
      }
      for (let i = 0; i < WORDS; i++) hashes[oldest * WORDS + i] = word(hash, 4 * i);
      nodes[oldest] = rlp;
      usedAt[oldest] = ++clock;
    },
  };
}

function word(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
