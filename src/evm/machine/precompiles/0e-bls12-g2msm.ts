import { BLS_G2_LENGTH, BLS_SCALAR_LENGTH, blsG2Msm } from "../../../base/crypto/bls12-381/bls12-381.ts";
import { BLS_G2_MSM_DISCOUNTS, BLS_G2_MUL_GAS } from "../../../base/params/gas.ts";
import { msmPrecompile } from "./bls12-381.ts";

/**
 * Sum of multiples of points of G2: EIP-2537.
 *
 *     (point 256 ‖ scalar 32) once or more  →  point 256
 */
export const bls12G2Msm = msmPrecompile({
  name: "BLS12_G2MSM",
  termLength: BLS_G2_LENGTH + BLS_SCALAR_LENGTH,
  multiplyGas: BLS_G2_MUL_GAS,
  discounts: BLS_G2_MSM_DISCOUNTS,
  multiply: blsG2Msm,
});
