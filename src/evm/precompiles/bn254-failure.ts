import type { PointFault } from "../../crypto/bn254.ts";
import type { PrecompileFailure } from "../evm.ts";

/** geth's texts for a rejected point of alt_bn128. */
export const BN254_FAILURE: Readonly<Record<PointFault, PrecompileFailure>> = {
  field: { reason: "invalid fp.Element encoding" },
  curve: { reason: "point is not on curve" },
  subgroup: { reason: "point is not in correct subgroup" },
};
