import type { PointFault } from "../../../base/crypto/bn254.ts";
import type { WordGas } from "../../../base/params/gas.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import type { PrecompileFailure } from "../state-port.ts";

/**
 * `length` bytes of `input` from `offset`, zeros where it has ended: calldata is endless to a precompile.
 * A view of `input` where that is enough, so not to be written to.
 */
export function inputSlice(input: Uint8Array, offset: number, length: number): Uint8Array {
  const slice = input.subarray(offset, offset + length);
  if (slice.length === length) return slice;
  const padded = new Uint8Array(length);
  padded.set(slice);
  return padded;
}

/** The 32-byte word of `input` at `offset` as an integer. */
export function inputWord(input: Uint8Array, offset: number): bigint {
  return bytesToBigint(inputSlice(input, offset, 32));
}

export function gasByWords(input: Uint8Array, { base, perWord }: WordGas): bigint {
  return BigInt(base + perWord * Math.ceil(input.length / 32));
}

/** geth's texts for a rejected point of alt_bn128. */
export const BN254_FAILURE: Readonly<Record<PointFault, PrecompileFailure>> = {
  field: { reason: "invalid fp.Element encoding" },
  curve: { reason: "point is not on curve" },
  subgroup: { reason: "point is not in correct subgroup" },
};
