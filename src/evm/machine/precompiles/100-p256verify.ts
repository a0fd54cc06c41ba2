import { verifyP256 } from "../../../base/crypto/p256.ts";
import { P256_VERIFY_GAS } from "../../../base/params/gas.ts";
import { bigintToFixedBytes, EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import type { Precompile } from "../state-port.ts";

const INPUT_LENGTH = 160;

/**
 * Verifies an ECDSA signature on P-256: EIP-7951. Invalid signatures and malformed input return nothing;
 * the contract never fails.
 *
 *     hash 32 ‖ r 32 ‖ s 32 ‖ x 32 ‖ y 32  →  1 in 32 bytes, or nothing
 */
export const p256Verify: Precompile = {
  name: "P256VERIFY",
  gas: () => P256_VERIFY_GAS,
  run(input) {
    const valid =
      input.length === INPUT_LENGTH && verifyP256(input.subarray(0, 32), input.subarray(32, 96), input.subarray(96));
    return valid ? bigintToFixedBytes(1n, 32) : EMPTY_BYTES;
  },
};
