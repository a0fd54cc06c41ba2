import { createKeccak } from "hash-wasm";
import type { Hash } from "./hash.ts";
import { bytesToHex } from "./hex.ts";

const hasher = await createKeccak(256);

/** Keccak-256 (Yellow Paper, appendix B; not the standardised SHA3-256): 32 bytes. */
export function keccak256(data: Uint8Array): Uint8Array {
  return hasher.init().update(data).digest("binary");
}

/** Keccak-256 as a branded hash. */
export function keccak256Hash(data: Uint8Array): Hash {
  return bytesToHex(keccak256(data)) as Hash;
}
