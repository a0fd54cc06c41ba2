/** Bits of a limb: products of two limbs have 60, so a column of up to 13 of them fits 64 bits without a carry. */
export const LIMB_BITS = 30;
const BITS = BigInt(LIMB_BITS);
export const LIMB_MASK = (1n << BITS) - 1n;

/**
 * A prime field p. Elements are stored in linear memory as `limbs` 64-bit words of 30 bits each, least significant first, in Montgomery form x·R
 * with R = 2^(30·limbs), reduced only below 2p: R is far above 4p, so the product of two such elements is below 2p again without a final
 * subtraction.
 */
export type FieldShape = {
  readonly modulus: bigint;
  readonly limbs: number;
  /** Bytes of an element in linear memory. */
  readonly size: number;
  /** R */
  readonly radix: bigint;
};

export function fieldShape(modulus: bigint): FieldShape {
  const limbs = Math.ceil((modulus.toString(2).length + 3) / LIMB_BITS);
  return { modulus, limbs, size: 8 * limbs, radix: 1n << (BITS * BigInt(limbs)) };
}

/** The limbs of `value`, least significant first. */
export function limbsOf(value: bigint, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => (value >> (BITS * BigInt(i))) & LIMB_MASK);
}
