import { BLS_FIELD_LENGTH, blsMapFpToG1 } from "../../../base/crypto/bls12-381/bls12-381.ts";
import { BLS_MAP_FP_TO_G1_GAS } from "../../../base/params/gas.ts";
import { fixedLengthPrecompile } from "./bls12-381.ts";

/**
 * Point of G1 for a field element: EIP-2537.
 *
 *     element 64  →  point 128
 */
export const bls12MapFpToG1 = fixedLengthPrecompile({
  name: "BLS12_MAP_FP_TO_G1",
  gas: BLS_MAP_FP_TO_G1_GAS,
  inputLength: BLS_FIELD_LENGTH,
  compute: blsMapFpToG1,
});
