import type { BlsFault } from "../../crypto/bls12-381/bls12-381.ts";
import type { Precompile, PrecompileFailure } from "../evm.ts";

export const INVALID_LENGTH: PrecompileFailure = { reason: "invalid input length" };

/** geth's texts for a rejected element or point of BLS12-381. */
export const BLS_FAILURE: Readonly<Record<BlsFault, PrecompileFailure>> = {
  padding: { reason: "invalid field element top bytes" },
  field: { reason: "invalid fp.Element encoding" },
  curve: { reason: "invalid point: not on curve" },
  g1Subgroup: { reason: "g1 point is not on correct subgroup" },
  g2Subgroup: { reason: "g2 point is not on correct subgroup" },
};

/** A precompile of EIP-2537 with fixed gas and a fixed input length. */
export function fixedLengthPrecompile(rules: {
  readonly name: string;
  readonly gas: bigint;
  readonly inputLength: number;
  readonly compute: (input: Uint8Array) => Uint8Array | BlsFault;
}): Precompile {
  return {
    name: rules.name,
    gas: () => rules.gas,
    run(input) {
      if (input.length !== rules.inputLength) return INVALID_LENGTH;
      const result = rules.compute(input);
      return typeof result === "string" ? BLS_FAILURE[result] : result;
    },
  };
}
