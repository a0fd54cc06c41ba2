import { BLS_FIELD_LENGTH, blsMapFp2ToG2 } from "../../../base/crypto/bls12-381/bls12-381.ts";
import { BLS_MAP_FP2_TO_G2_GAS } from "../../../base/params/gas.ts";
import { fixedLengthPrecompile } from "./bls12-381.ts";

/**
 * Point of G2 for an element of the quadratic extension: EIP-2537.
 *
 *     c0 64 ‖ c1 64  →  point 256
 */
export const bls12MapFp2ToG2 = fixedLengthPrecompile({
  name: "BLS12_MAP_FP2_TO_G2",
  gas: BLS_MAP_FP2_TO_G2_GAS,
  inputLength: 2 * BLS_FIELD_LENGTH,
  compute: blsMapFp2ToG2,
});
