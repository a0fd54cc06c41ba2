import { BLS_G1_LENGTH, blsG1Add } from "../../../base/crypto/bls12-381/bls12-381.ts";
import { BLS_G1_ADD_GAS } from "../../../base/params/gas.ts";
import { fixedLengthPrecompile } from "./bls12-381.ts";

/**
 * Sum of two points of G1, of any order: EIP-2537.
 *
 *     point 128 ‖ point 128  →  point 128
 */
export const bls12G1Add = fixedLengthPrecompile({
  name: "BLS12_G1ADD",
  gas: BLS_G1_ADD_GAS,
  inputLength: 2 * BLS_G1_LENGTH,
  compute: blsG1Add,
});
