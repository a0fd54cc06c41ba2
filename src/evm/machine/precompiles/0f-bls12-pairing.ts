import { BLS_G1_LENGTH, BLS_G2_LENGTH, blsPairingIsOne } from "../../../base/crypto/bls12-381/bls12-381.ts";
import { BLS_PAIRING_GAS } from "../../../base/params/gas.ts";
import { bigintToFixedBytes } from "../../../base/primitives/bytes.ts";
import type { Precompile } from "../state-port.ts";
import { BLS_FAILURE, INVALID_LENGTH } from "./bls12-381.ts";

const PAIR_LENGTH = BLS_G1_LENGTH + BLS_G2_LENGTH;

/**
 * Whether a product of pairings on BLS12-381 is one: EIP-2537.
 *
 *     (G1 point 128 ‖ G2 point 256) once or more  →  1 or 0 in 32 bytes
 */
export const bls12Pairing: Precompile = {
  name: "BLS12_PAIRING_CHECK",
  gas: (input) => BigInt(BLS_PAIRING_GAS.base + BLS_PAIRING_GAS.perPair * Math.floor(input.length / PAIR_LENGTH)),
  run(input, checkpoint) {
    if (input.length === 0 || input.length % PAIR_LENGTH !== 0) return INVALID_LENGTH;
    const result = blsPairingIsOne(input, checkpoint);
    return typeof result === "string" ? BLS_FAILURE[result] : bigintToFixedBytes(result ? 1n : 0n, 32);
  },
};
