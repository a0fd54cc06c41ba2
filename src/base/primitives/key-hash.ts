import { randomInt } from "node:crypto";

/** Prevents outsiders from choosing keys with the same hash. */
const SEED = randomInt(2 ** 31);

/** 32 bits of the `length` bytes at `start`, for tables in memory: MurmurHash3 with a seed per process. */
export function keyHash(bytes: Uint8Array, start: number, length: number): number {
  let mixed = SEED;
  const end = start + length;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    // Written out: V8 calls helpers from cold code, and a block hashes two hundred words.
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    const product = Math.imul(word, 0xcc9e2d51);
    mixed ^= Math.imul((product << 15) | (product >>> 17), 0x1b873593);
    mixed = (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let shift = 0; at < end; at++, shift += 8) rest |= bytes[at]! << shift;
  const product = Math.imul(rest, 0xcc9e2d51);
  mixed ^= Math.imul((product << 15) | (product >>> 17), 0x1b873593) ^ length;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
