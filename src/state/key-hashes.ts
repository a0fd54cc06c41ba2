import type { Hex } from "../primitives/hex.ts";
import { hexToBytes } from "../primitives/hex.ts";
import { keccak256 } from "../primitives/keccak.ts";

/** keccak256 of addresses and slots: the keys of the tries. Results are shared, never written to. */
export type KeyHashes = (key: Hex) => Uint8Array;

/**
 * Remembers the hashes asked for most recently, between `entriesMax` and half of it: when the newer of two Maps is full it becomes
 * the older one, so nothing has to be kept in order of use.
 */
export function createKeyHashes(entriesMax: number): KeyHashes {
  let newer = new Map<Hex, Uint8Array>();
  let older = new Map<Hex, Uint8Array>();
  return (key) => {
    let hash = newer.get(key);
    if (hash !== undefined) return hash;
    hash = older.get(key) ?? keccak256(hexToBytes(key));
    newer.set(key, hash);
    if (newer.size * 2 >= entriesMax) {
      older = newer;
      newer = new Map();
    }
    return hash;
  };
}
