import { bigintToFixedBytes } from "../../base/primitives/bytes.ts";
import { keccak256, keccak256Message, keccakMessage } from "../../base/primitives/keccak.ts";

/** Hashes between looks at the clock, about 100 microseconds. */
const HASHES_PER_LOOK = 128;

export type Work = { readonly nonce: bigint /** leading zero bits */; readonly bits: number };

/**
 * Leading zero bits of keccak256(seed ‖ nonce), the nonce as 32 bytes.
 * @param seed keccak256 of the envelope's RLP without its nonce
 */
export function workProved(seed: Uint8Array, nonce: bigint): number {
  const message = new Uint8Array(64);
  message.set(seed);
  message.set(bigintToFixedBytes(nonce, 32), 32);
  return leadingZeroBits(keccak256(message));
}

/** The best nonce found in `milliseconds`; 0 if there is no time to search. */
export function findWork(seed: Uint8Array, milliseconds: number, nowMs: () => number = () => performance.now()): Work {
  let best: Work = { nonce: 0n, bits: workProved(seed, 0n) };
  const end = nowMs() + milliseconds;
  const digest = new Uint8Array(32);
  const counter = Buffer.alloc(32);
  let nonce = 0;
  while (nowMs() < end) {
    for (let i = 0; i < HASHES_PER_LOOK; i++) {
      counter.writeUIntBE(++nonce, 26, 6);
      keccakMessage.set(seed);
      keccakMessage.set(counter, 32);
      keccak256Message(64, digest, 0);
      if (digest[0] !== 0 && best.bits >= 8) continue;
      const bits = leadingZeroBits(digest);
      if (bits > best.bits) best = { nonce: BigInt(nonce), bits };
    }
  }
  return best;
}

export function leadingZeroBits(bytes: Uint8Array): number {
  let bits = 0;
  for (const byte of bytes) {
    if (byte !== 0) return bits + Math.clz32(byte) - 24;
    bits += 8;
  }
  return bits;
}
