import { invariant } from "../errors.ts";
import type { Secp256k1Backend } from "./secp256k1-backend.ts";

/** libsecp256k1 as WebAssembly: works everywhere, at about a third of the native speed. */
export async function loadWasmBackend(): Promise<Secp256k1Backend> {
  // Imported on demand: the package instantiates all its modules at load, some 150 ms the native path need not pay.
  const { instantiateSecp256k1 } = await import("@bitauth/libauth");
  const curve = await instantiateSecp256k1();
  return {
    name: "wasm",
    recover(signature, recoveryId, digest) {
      const key = curve.recoverPublicKeyUncompressed(signature, recoveryId, digest);
      return typeof key === "string" ? undefined : key;
    },
    sign(digest, privateKey) {
      const signed = curve.signMessageHashRecoverableCompact(privateKey, digest);
      invariant(typeof signed !== "string", "a valid private key signs every digest");
      return signed;
    },
    publicKey(privateKey) {
      const key = curve.derivePublicKeyUncompressed(privateKey);
      invariant(typeof key !== "string", "a valid private key has a public key");
      return key;
    },
  };
}
