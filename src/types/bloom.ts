import { addressToBytes } from "../primitives/address.ts";
import { hashToBytes } from "../primitives/hash.ts";
import { keccak256 } from "../primitives/keccak.ts";
import type { Log } from "./receipt.ts";

/** Bytes of a logs bloom: 2048 bits. */
export const BLOOM_LENGTH = 256;

/** The bloom of no logs; shared, never written to. */
export const EMPTY_BLOOM: Uint8Array = new Uint8Array(BLOOM_LENGTH);

/** The bloom of `logs` (Yellow Paper 4.4.1): three bits for each address and topic. */
export function logsBloom(logs: readonly Log[]): Uint8Array {
  if (logs.length === 0) return EMPTY_BLOOM;
  const bloom = new Uint8Array(BLOOM_LENGTH);
  for (const { address, topics } of logs) {
    addToBloom(bloom, addressToBytes(address));
    for (const topic of topics) addToBloom(bloom, hashToBytes(topic));
  }
  return bloom;
}

/** Sets the three bits of `value` in `bloom`. */
export function addToBloom(bloom: Uint8Array, value: Uint8Array): void {
  const hash = keccak256(value);
  for (let pair = 0; pair < 6; pair += 2) {
    const bit = bitOf(hash, pair);
    bloom[BLOOM_LENGTH - 1 - (bit >> 3)]! |= 1 << (bit & 7);
  }
}

/** False: `value` is surely not among what went into `bloom`. */
export function bloomMayContain(bloom: Uint8Array, value: Uint8Array): boolean {
  const hash = keccak256(value);
  for (let pair = 0; pair < 6; pair += 2) {
    const bit = bitOf(hash, pair);
    if ((bloom[BLOOM_LENGTH - 1 - (bit >> 3)]! & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** Sets in `bloom` every bit of `other`. */
export function mergeBloom(bloom: Uint8Array, other: Uint8Array): void {
  for (let i = 0; i < BLOOM_LENGTH; i++) bloom[i]! |= other[i]!;
}

/** The low 11 bits of the big-endian pair of bytes at `offset`. */
function bitOf(hash: Uint8Array, offset: number): number {
  return ((hash[offset]! << 8) | hash[offset + 1]!) & 0x7ff;
}
