import { blake2f as compress } from "../../../base/crypto/blake2f.ts";
import type { Precompile } from "../state-port.ts";

/**
 * The compression function of BLAKE2b: EIP-152.
 *
 *     rounds 4, big-endian ‖ h 64 ‖ m 128 ‖ t 16 ‖ final flag 1  →  h 64
 */
const INPUT_LENGTH = 213;

export const blake2f: Precompile = {
  name: "BLAKE2F",
  // Input of another length fails and burns all gas, so its cost does not matter.
  gas: (input) => (input.length === INPUT_LENGTH ? BigInt(rounds(input)) : 0n),
  run(input, checkpoint) {
    if (input.length !== INPUT_LENGTH) return { reason: "invalid input length" };
    const final = input[212]!;
    if (final > 1) return { reason: "invalid final flag" };
    return compress(
      rounds(input),
      input.subarray(4, 68),
      input.subarray(68, 196),
      input.subarray(196, 212),
      final === 1,
      checkpoint,
    );
  },
};

function rounds(input: Uint8Array): number {
  return new DataView(input.buffer, input.byteOffset).getUint32(0);
}
