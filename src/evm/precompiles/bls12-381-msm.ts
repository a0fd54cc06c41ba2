import type { BlsFault } from "../../crypto/bls12-381/bls12-381.ts";
import type { Checkpoint } from "../../crypto/checkpoint.ts";
import { BLS_MSM_DISCOUNT_DIVISOR } from "../../params/precompile-gas.ts";
import type { Precompile } from "../evm.ts";
import { BLS_FAILURE, INVALID_LENGTH } from "./bls12-381-failure.ts";

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
export function msmPrecompile({
  name,
  termLength,
  multiplyGas,
  discounts,
  multiply,
}: MsmRules): Precompile {
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
