import type { Address } from "../primitives/address.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import type { Hash } from "../primitives/hash.ts";
import { keccak256, keccak256OfHex } from "../primitives/keccak.ts";
import type { Log } from "./receipt.ts";

/** Bytes of a logs bloom: 2048 bits. */
export const BLOOM_LENGTH = 256;

/** The bloom of no logs; shared, never written to. */
export const EMPTY_BLOOM: Uint8Array = new Uint8Array(BLOOM_LENGTH);

/** Maximum addresses and topics whose bits are cached for one block: 400 KB. */
const KNOWN_MAX = 4_096;
/** Blooms of receipts in one buffer. */
const SHARED_BLOOMS = 32;

/**
 * The blooms of one block's receipts (Yellow Paper 4.4.1): three bits for each address and topic. Logs repeat the same contracts, events and
 * accounts many times, and each is hashed once.
 */
export class ReceiptBlooms {
  readonly #bits = new Map<Address | Hash, number>();
  #shared = EMPTY_BYTES;
  #used = 0;

  of(logs: readonly Log[]): Uint8Array {
    if (logs.length === 0) return EMPTY_BLOOM;
    const bloom = this.#nextBloom();
    for (const { address, topics } of logs) {
      setBits(bloom, this.#bitsOf(address));
      for (const topic of topics) setBits(bloom, this.#bitsOf(topic));
    }
    return bloom;
  }

  /** A zeroed bloom in a shared buffer: creating an ArrayBuffer takes longer than all other work on a bloom. */
  #nextBloom(): Uint8Array {
    if (this.#used === this.#shared.length) {
      // A call has one receipt, a block about a hundred.
      this.#shared = new Uint8Array(this.#used === 0 ? BLOOM_LENGTH : BLOOM_LENGTH * SHARED_BLOOMS);
      this.#used = 0;
    }
    this.#used += BLOOM_LENGTH;
    return this.#shared.subarray(this.#used - BLOOM_LENGTH, this.#used);
  }

  #bitsOf(value: Address | Hash): number {
    let bits = this.#bits.get(value);
    if (bits === undefined) {
      bits = bitsOf(keccak256OfHex(value));
      if (this.#bits.size < KNOWN_MAX) this.#bits.set(value, bits);
    }
    return bits;
  }
}

export function logsBloom(logs: readonly Log[]): Uint8Array {
  return new ReceiptBlooms().of(logs);
}

/** Sets the three bits of `value` in `bloom`. */
export function addToBloom(bloom: Uint8Array, value: Uint8Array): void {
  setBits(bloom, bitsOf(keccak256(value)));
}

/** False: `bloom` certainly does not contain `value`. */
export function bloomMayContain(bloom: Uint8Array, value: Uint8Array): boolean {
  let bits = bitsOf(keccak256(value));
  for (let left = BITS; left > 0; left--) {
    const bit = bits % BIT_END;
    if ((bloom[BLOOM_LENGTH - 1 - (bit >> 3)]! & (1 << (bit & 7))) === 0) return false;
    bits = Math.floor(bits / BIT_END);
  }
  return true;
}

export function mergeBloom(bloom: Uint8Array, other: Uint8Array): void {
  for (let i = 0; i < BLOOM_LENGTH; i++) bloom[i]! |= other[i]!;
}

const BITS = 3;
/** Exclusive upper bound of bit numbers. */
const BIT_END = BLOOM_LENGTH * 8;

/** The three bit numbers of an item with this `hash`, packed into one number: the low 11 bits of its first three big-endian byte pairs. */
function bitsOf(hash: Uint8Array): number {
  let bits = 0;
  for (let pair = (BITS - 1) * 2; pair >= 0; pair -= 2) {
    bits = bits * BIT_END + (((hash[pair]! << 8) | hash[pair + 1]!) & (BIT_END - 1));
  }
  return bits;
}

function setBits(bloom: Uint8Array, bits: number): void {
  let rest = bits;
  for (let left = BITS; left > 0; left--) {
    const bit = rest % BIT_END;
    bloom[BLOOM_LENGTH - 1 - (bit >> 3)]! |= 1 << (bit & 7);
    rest = Math.floor(rest / BIT_END);
  }
}
