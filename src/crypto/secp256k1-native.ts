import { createRequire } from "node:module";
import type { Secp256k1Backend } from "./secp256k1-backend.ts";

/** The part of npm `secp256k1` in use; it comes without types. */
type NativeBinding = {
  ecdsaRecover(
    signature: Uint8Array,
    recoveryId: number,
    digest: Uint8Array,
    compressed: boolean,
  ): Uint8Array;
  ecdsaSign(
    digest: Uint8Array,
    privateKey: Uint8Array,
  ): { readonly signature: Uint8Array; readonly recid: number };
  publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array;
};

/**
 * libsecp256k1 as a native addon, or undefined where the optional dependency or its binary is missing.
 * `bindings` is loaded and not the package itself, whose own fallback to pure JavaScript is 30 times slower than our WASM one.
 */
export function loadNativeBackend(): Secp256k1Backend | undefined {
  let binding: NativeBinding;
  try {
    binding = createRequire(import.meta.url)("secp256k1/bindings") as NativeBinding;
  } catch {
    return undefined;
  }
  return {
    name: "native",
    recover(signature, recoveryId, digest) {
      try {
        return binding.ecdsaRecover(signature, recoveryId, digest, false);
      } catch {
        // The addon throws for every signature without a public key; arguments were checked before.
        return undefined;
      }
    },
    sign(digest, privateKey) {
      const { signature, recid } = binding.ecdsaSign(digest, privateKey);
      return { signature, recoveryId: recid };
    },
    publicKey: (privateKey) => binding.publicKeyCreate(privateKey, false),
  };
}
