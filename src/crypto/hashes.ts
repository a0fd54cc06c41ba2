import { hash } from "node:crypto";
import { createRIPEMD160 } from "hash-wasm";

const ripemd160Hasher = await createRIPEMD160();

/** SHA-256 (FIPS 180-4): 32 bytes. */
export function sha256(data: Uint8Array): Uint8Array {
  return hash("sha256", data, "buffer");
}

/**
 * RIPEMD-160: 20 bytes. In WebAssembly, since OpenSSL 3 offers it only with its legacy provider
 * and takes twice the time (bench/micro/precompiles.ts).
 */
export function ripemd160(data: Uint8Array): Uint8Array {
  return ripemd160Hasher.init().update(data).digest("binary");
}
