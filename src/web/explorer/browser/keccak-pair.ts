import { keccak_256 } from "@noble/hashes/sha3.js";
import type { HashPair } from "../../../base/primitives/keccak-pair-wasm.ts";

/** `base/primitives/keccak-pair-wasm.ts` for browsers; see `keccak.ts`. */
export const PAIR_MESSAGES_OFFSET = 0;
export const PAIR_READ_AHEAD = 0;

const PAGE = 64 << 10;
const DIGEST_LENGTH = 32;

export function createKeccakPairModule(pages: number): {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly hashPair: HashPair;
} {
  const bytes = new Uint8Array(pages * PAGE);
  function hash(start: number, length: number, out: number): void {
    const digest = keccak_256(bytes.subarray(start, start + length));
    bytes.set(digest, start - DIGEST_LENGTH);
    bytes.set(digest, out);
  }
  return {
    bytes,
    hashPair(first, firstLength, firstOut, second, secondLength, secondOut) {
      hash(first, firstLength, firstOut);
      hash(second, secondLength, secondOut);
    },
  };
}
