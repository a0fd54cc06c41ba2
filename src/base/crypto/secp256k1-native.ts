import { createRequire } from "node:module";
import { bytesToBigint } from "../primitives/bytes.ts";
import { nativeCall } from "../threads/native-calls.ts";
import type { Secp256k1Backend, SignedDigest } from "./secp256k1-backend.ts";

/** The part of npm's `secp256k1` in use; it has no types. */
type NativeBinding = {
  ecdsaRecover(signature: Uint8Array, recoveryId: number, digest: Uint8Array, compressed: boolean): Uint8Array;
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { readonly signature: Uint8Array; readonly recid: number };
  publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array;
};

/**
 * libsecp256k1 as a native addon; undefined if the optional dependency or its binary is missing. Loads `bindings` instead of the package, whose
 * fallback to pure JavaScript is many times slower than our WebAssembly.
 */
export function loadNativeBackend(): Secp256k1Backend | undefined {
  let binding: NativeBinding;
  try {
    binding = nativeCall(() => createRequire(import.meta.url)("secp256k1/bindings"));
  } catch {
    return undefined;
  }
  const recover = ({ digest, signature, yParity }: SignedDigest): Uint8Array | undefined => {
    try {
      return nativeCall(() => binding.ecdsaRecover(signature, yParity, digest, false)).subarray(1);
    } catch {
      // The addon throws for every signature without a public key; arguments were checked before.
      return undefined;
    }
  };
  return {
    name: "native",
    recover: (signed) => signed.map(recover),
    sign(digest, privateKey) {
      const { signature, recid } = nativeCall(() => binding.ecdsaSign(digest, privateKey));
      return {
        r: bytesToBigint(signature.subarray(0, 32)),
        s: bytesToBigint(signature.subarray(32, 64)),
        // Ids 2 and 3 mean an r above the group order: a probability of 2^-127.
        yParity: (recid & 1) as 0 | 1,
      };
    },
    publicKey: (privateKey) => nativeCall(() => binding.publicKeyCreate(privateKey, false)).subarray(1),
  };
}
