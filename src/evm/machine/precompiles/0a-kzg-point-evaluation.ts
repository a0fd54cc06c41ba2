import { blobVersionedHash } from "../../../base/crypto/kzg/blob.ts";
import { KZG_FAULT_TEXTS, openingFault } from "../../../base/crypto/kzg/opening.ts";
import { KZG_POINT_EVALUATION_GAS } from "../../../base/params/gas.ts";
import { hashFromBytes } from "../../../base/primitives/hash.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import type { Precompile } from "../state-port.ts";

const INPUT_LENGTH = 192;

/** FIELD_ELEMENTS_PER_BLOB ‖ BLS_MODULUS, 32 bytes each. */
const OUTPUT = hexToBytes(
  "0x000000000000000000000000000000000000000000000000000000000000100073eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001",
);

/**
 * Checks that the blob of a versioned hash takes the value y at z: EIP-4844.
 *
 *     versioned hash 32 ‖ z 32 ‖ y 32 ‖ commitment 48 ‖ proof 48  →  4096 in 32 bytes ‖ BLS modulus 32
 */
export const kzgPointEvaluation: Precompile = {
  name: "KZG_POINT_EVALUATION",
  gas: () => KZG_POINT_EVALUATION_GAS,
  run(input) {
    if (input.length !== INPUT_LENGTH) return { reason: "invalid input length" };
    const commitment = input.subarray(96, 144);
    if (hashFromBytes(input.subarray(0, 32)) !== blobVersionedHash(commitment)) {
      return { reason: "mismatched versioned hash" };
    }
    const z = input.subarray(32, 64);
    const y = input.subarray(64, 96);
    const fault = openingFault(commitment, z, y, input.subarray(144));
    if (fault) return { reason: `error verifying kzg proof: ${KZG_FAULT_TEXTS[fault]}` };
    return new Uint8Array(OUTPUT);
  },
};
