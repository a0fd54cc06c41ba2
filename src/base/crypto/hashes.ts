import { hash } from "node:crypto";
import { ripemd160 as nobleRipemd160 } from "@noble/hashes/legacy.js";
import { type Checkpoint, noCheckpoint } from "./checkpoint.ts";

/** Bytes hashed between two checkpoints, a few milliseconds. */
const RIPEMD_PORTION = 1 << 18;

/** SHA-256 (FIPS 180-4): 32 bytes. */
export function sha256(data: Uint8Array): Uint8Array {
  return hash("sha256", data, "buffer");
}

/**
 * RIPEMD-160: 20 bytes. OpenSSL 3 offers it only with its legacy provider. A WebAssembly module would hash several times faster, but this is
 * fast enough for its gas, and the module would cost 40 ms at each start.
 */
export function ripemd160(data: Uint8Array, checkpoint: Checkpoint = noCheckpoint): Uint8Array {
  const hasher = nobleRipemd160.create();
  for (let at = 0; at < data.length; at += RIPEMD_PORTION) {
    if (at > 0) checkpoint();
    hasher.update(data.subarray(at, at + RIPEMD_PORTION));
  }
  return hasher.digest();
}
