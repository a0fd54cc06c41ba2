import { createKeyRecovery, type KeyRecovery } from "./secp256k1/recovery.ts";
import { publicKeyOf, signDeterministically } from "./secp256k1/signing.ts";
import type { Secp256k1Backend } from "./secp256k1-backend.ts";

/** Recovery in our own WebAssembly and signing by OpenSSL: for machines and browsers without the native addon. See ADR 92. */
export function loadWasmBackend(): Secp256k1Backend {
  let recovery: KeyRecovery | undefined;
  return {
    name: "wasm",
    recover(signed) {
      recovery ??= createKeyRecovery();
      return recovery.recover(signed);
    },
    sign: signDeterministically,
    publicKey: publicKeyOf,
  };
}
