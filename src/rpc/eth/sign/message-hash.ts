import type { Signature } from "../../../crypto/secp256k1.ts";
import { bigintToFixedBytes, concatBytes } from "../../../primitives/bytes.ts";
import { keccak256 } from "../../../primitives/keccak.ts";

/**
 * The 32 bytes signed for `message` (EIP-191, version 0x45): keccak256(0x19 ‖ chainName ‖ " Signed Message:\n" ‖ length ‖ message).
 * @param chainName "Ethereum", unless wallets and contracts of the chain agree on another name
 */
export function messageHash(chainName: string, message: Uint8Array): Uint8Array {
  const prefix = Buffer.from(`\u0019${chainName} Signed Message:\n${message.length}`);
  return keccak256(concatBytes(prefix, message));
}

/** r ‖ s ‖ v with v 27 or 28: 65 bytes, as wallets expect a message signature. */
export function signatureBytes({ r, s, yParity }: Signature): Uint8Array {
  return concatBytes(
    bigintToFixedBytes(r, 32),
    bigintToFixedBytes(s, 32),
    Uint8Array.of(27 + yParity),
  );
}
