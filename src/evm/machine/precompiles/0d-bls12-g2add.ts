import { BLS_G2_LENGTH, blsG2Add } from "../../../base/crypto/bls12-381/bls12-381.ts";
import { BLS_G2_ADD_GAS } from "../../../base/params/gas.ts";
import { fixedLengthPrecompile } from "./bls12-381.ts";

/**
 * Sum of two points of G2, of any order: EIP-2537.
 *
 *     point 256 ‖ point 256  →  point 256
 */
export const bls12G2Add = fixedLengthPrecompile({
  name: "BLS12_G2ADD",
  gas: BLS_G2_ADD_GAS,
  inputLength: 2 * BLS_G2_LENGTH,
  compute: blsG2Add,
});
