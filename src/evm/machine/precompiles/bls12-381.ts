import type { BlsFault } from "../../../base/crypto/bls12-381/bls12-381.ts";
import type { Checkpoint } from "../../../base/crypto/checkpoint.ts";
import { BLS_MSM_DISCOUNT_DIVISOR } from "../../../base/params/gas.ts";
import type { Precompile, PrecompileFailure } from "../state-port.ts";

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

type MsmRules = {
  readonly name: string;
  /** Bytes of one (point, scalar) pair. */
  readonly termLength: number;
  /** Gas of a single multiplication. */
  readonly multiplyGas: number;
  readonly discounts: readonly number[];
  readonly multiply: (input: Uint8Array, checkpoint?: Checkpoint) => Uint8Array | BlsFault;
};

/** A multi-scalar multiplication of EIP-2537. */
export function msmPrecompile({ name, termLength, multiplyGas, discounts, multiply }: MsmRules): Precompile {
  return {
    name,
    gas(input) {
      const terms = Math.floor(input.length / termLength);
      if (terms === 0) return 0n;
      const discount = discounts[Math.min(terms, discounts.length) - 1]!;
      return BigInt(Math.floor((terms * multiplyGas * discount) / BLS_MSM_DISCOUNT_DIVISOR));
    },
    run(input, checkpoint) {
      if (input.length === 0 || input.length % termLength !== 0) return INVALID_LENGTH;
      const result = multiply(input, checkpoint);
      return typeof result === "string" ? BLS_FAILURE[result] : result;
    },
  };
}
