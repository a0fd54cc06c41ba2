import { hash } from "node:crypto";
import { ripemd160 as nobleRipemd160 } from "@noble/hashes/legacy.js";
import { type Checkpoint, noCheckpoint } from "./checkpoint.ts";

/** Bytes hashed between two checkpoints, some milliseconds. */
const RIPEMD_PORTION = 1 << 18;

/** SHA-256 (FIPS 180-4): 32 bytes. */
export function sha256(data: Uint8Array): Uint8Array {
  return hash("sha256", data, "buffer");
}

/**
 * RIPEMD-160: 20 bytes. OpenSSL 3 offers it only with its legacy provider. A WebAssembly module hashes several times faster,
 * but no faster than the gas paid for it asks, and takes 40 ms of every start.
 */
export function ripemd160(data: Uint8Array, checkpoint: Checkpoint = noCheckpoint): Uint8Array {
  const hasher = nobleRipemd160.create();
  for (let at = 0; at < data.length; at += RIPEMD_PORTION) {
    if (at > 0) checkpoint();
    hasher.update(data.subarray(at, at + RIPEMD_PORTION));
  }
  return hasher.digest();
}
