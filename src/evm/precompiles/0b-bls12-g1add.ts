import { BLS_G1_LENGTH, blsG1Add } from "../../crypto/bls12-381.ts";
import { fixedLengthPrecompile } from "./bls12-381-failure.ts";

/**
 * Sum of two points of G1, of any order: EIP-2537.
 *
 *     point 128 ‖ point 128  →  point 128
 */
export const bls12G1Add = fixedLengthPrecompile({
  name: "BLS12_G1ADD",
  gas: 375n,
  inputLength: 2 * BLS_G1_LENGTH,
  compute: blsG1Add,
});
