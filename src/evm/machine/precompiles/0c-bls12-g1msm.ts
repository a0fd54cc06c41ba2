import { BLS_G1_LENGTH, BLS_SCALAR_LENGTH, blsG1Msm } from "../../../base/crypto/bls12-381/bls12-381.ts";
import { BLS_G1_MSM_DISCOUNTS, BLS_G1_MUL_GAS } from "../../../base/params/gas.ts";
import { msmPrecompile } from "./bls12-381.ts";

/**
 * Sum of multiples of points of G1: EIP-2537.
 *
 *     (point 128 ‖ scalar 32) once or more  →  point 128
 */
export const bls12G1Msm = msmPrecompile({
  name: "BLS12_G1MSM",
  termLength: BLS_G1_LENGTH + BLS_SCALAR_LENGTH,
  multiplyGas: BLS_G1_MUL_GAS,
  discounts: BLS_G1_MSM_DISCOUNTS,
  multiply: blsG1Msm,
});
