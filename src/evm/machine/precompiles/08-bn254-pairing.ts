import { BN254_G1_LENGTH, BN254_G2_LENGTH, bn254PairingIsOne } from "../../../base/crypto/bn254.ts";
import { BN254_PAIRING_BYZANTIUM_GAS, BN254_PAIRING_GAS, type PairGas } from "../../../base/params/gas.ts";
import { bigintToFixedBytes } from "../../../base/primitives/bytes.ts";
import type { Precompile } from "../state-port.ts";
import { BN254_FAILURE } from "./input.ts";

/**
 * Whether a product of pairings on alt_bn128 is one: EIP-197, gas of EIP-197 and EIP-1108.
 *
 *     (G1 point 64 ‖ G2 point 128) any number of times  →  1 or 0 in 32 bytes
 */
const PAIR_LENGTH = BN254_G1_LENGTH + BN254_G2_LENGTH;

export const bn254PairingByzantium: Precompile = pairing(BN254_PAIRING_BYZANTIUM_GAS);
export const bn254PairingIstanbul: Precompile = pairing(BN254_PAIRING_GAS);

function pairing({ base, perPair }: PairGas): Precompile {
  return {
    name: "BN254_PAIRING",
    gas: (input) => BigInt(base + perPair * Math.floor(input.length / PAIR_LENGTH)),
    run(input, checkpoint) {
      if (input.length % PAIR_LENGTH !== 0) return { reason: "bad elliptic curve pairing size" };
      const result = bn254PairingIsOne(input, checkpoint);
      return typeof result === "string" ? BN254_FAILURE[result] : bigintToFixedBytes(result ? 1n : 0n, 32);
    },
  };
}
