import { concatBytes, EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { BLOOM_LENGTH } from "../../../base/types/bloom.ts";

/** Bits of a logs bloom. */
export const BLOOM_BITS = BLOOM_LENGTH * 8;

/** The blooms of a section, transposed: for each bloom bit a vector with one bit per block, the first block in the highest bit of the first byte. */
export class BloomBits {
  readonly #vectorLength: number;
  readonly #vectors: Uint8Array;
  /** 1 where a block has the bit. */
  readonly #isSet = new Uint8Array(BLOOM_BITS);

  /** @param blocks of a section; a multiple of 8 */
  constructor(blocks: number) {
    this.#vectorLength = blocks / 8;
    this.#vectors = new Uint8Array(BLOOM_BITS * this.#vectorLength);
  }

  /** @param index of the block in the section */
  add(index: number, bloom: Uint8Array): void {
    const length = this.#vectorLength;
    const vectors = this.#vectors;
    const isSet = this.#isSet;
    const offset = index >> 3;
    const mask = 0x80 >> (index & 7);
    const last = bloom.length - 1;
    for (let i = 0; i <= last; i++) {
      let byte = bloom[i]!;
      // Bit 0 of a bloom is the lowest bit of its last byte.
      for (let bit = (last - i) * 8; byte !== 0; byte >>= 1, bit++) {
        if ((byte & 1) === 0) continue;
        vectors[bit * length + offset]! |= mask;
        isSet[bit] = 1;
      }
    }
  }

  /** Bits from `first` to before `last` that at least one block has, with their vectors as views. */
  *vectors(first: number, last: number): Generator<readonly [bit: number, vector: Uint8Array]> {
    const length = this.#vectorLength;
    for (let bit = first; bit < last; bit++) {
      if (this.#isSet[bit] === 1) {
        yield [bit, this.#vectors.subarray(bit * length, (bit + 1) * length)];
      }
    }
  }
}

/**
 * Compresses sparse bytes: a bitset of the non-zero bytes, itself compressed, then those bytes in order. Incompressible bytes stay unchanged;
 * all-zero bytes become empty. The reader knows the sizes, so nothing marks the form.
 */
export function compressBits(bytes: Uint8Array): Uint8Array {
  const compressed = compress(bytes);
  return compressed.length < bytes.length ? compressed : bytes;
}

function compress(bytes: Uint8Array): Uint8Array {
  const bitset = new Uint8Array((bytes.length + 7) >> 3);
  const rest = new Uint8Array(bytes.length);
  let count = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === 0) continue;
    bitset[i >> 3]! |= 0x80 >> (i & 7);
    rest[count++] = byte;
  }
  if (count === 0) return EMPTY_BYTES;
  if (bytes.length === 1) return bytes;
  return concatBytes(compress(bitset), rest.subarray(0, count));
}
