import { secp256k1 } from "@noble/curves/secp256k1.js";
import type { Secp256k1Backend, SignedDigest } from "../../../base/crypto/secp256k1-backend.ts";
import { InvariantError } from "../../../base/errors.ts";

const NOT_SIGNING = "the explorer does not sign: wallets do";

const BACKEND: Secp256k1Backend = {
  name: "native",
  recover: (signed) => signed.map(recover),
  sign() {
    throw new InvariantError(NOT_SIGNING);
  },
  publicKey() {
    throw new InvariantError(NOT_SIGNING);
  },
};

function recover({ digest, signature, yParity }: SignedDigest): Uint8Array | undefined {
  try {
    const signed = secp256k1.Signature.fromBytes(signature).addRecoveryBit(yParity);
    return signed.recoverPublicKey(digest).toBytes(false).subarray(1);
  } catch {
    // noble throws if r is not the x coordinate of a point.
    return undefined;
  }
}

/** Replaces the two modules that load the curve as native code or WebAssembly. */
export function loadNativeBackend(): Secp256k1Backend {
  return BACKEND;
}

export function loadWasmBackend(): Secp256k1Backend {
  return BACKEND;
}
