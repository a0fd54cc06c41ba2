import { BLS_G1_LENGTH, BLS_SCALAR_LENGTH, blsG1Msm } from "../../crypto/bls12-381.ts";
import { MSM_DISCOUNT_G1, msmPrecompile } from "./bls12-381-msm.ts";

/**
 * Sum of multiples of points of G1: EIP-2537.
 *
 *     (point 128 ‖ scalar 32) once or more  →  point 128
 */
export const bls12G1Msm = msmPrecompile({
  name: "BLS12_G1MSM",
  termLength: BLS_G1_LENGTH + BLS_SCALAR_LENGTH,
  multiplyGas: 12_000,
  discounts: MSM_DISCOUNT_G1,
  multiply: blsG1Msm,
});
