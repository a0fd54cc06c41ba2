import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Hash } from "../../../base/primitives/hash.ts";
import { bytesToHex, type Hex, hexToBytes } from "../../../base/primitives/hex.ts";

/**
 * `base/primitives/keccak.ts` for browsers, where the content security policy forbids WebAssembly: the build substitutes this module. Every
 * export has the contract of the one it replaces.
 */
export const keccakMessage: Uint8Array = new Uint8Array(128 * 1024);

export function keccak256Message(length: number, out: Uint8Array, offset: number): void {
  out.set(keccak_256(keccakMessage.subarray(0, length)), offset);
}

export function keccak256(data: Uint8Array): Uint8Array {
  return keccak_256(data);
}

export function keccak256Hash(data: Uint8Array): Hash {
  return bytesToHex(keccak_256(data)) as Hash;
}

export function keccak256OfHex(text: Hex): Uint8Array {
  return keccak_256(hexToBytes(text));
}

const BYTES_PER_STEP = 64 << 10;

export function* keccak256InSteps(data: Uint8Array): Generator<undefined, Uint8Array> {
  const hasher = keccak_256.create();
  for (let start = 0; start < data.length; start += BYTES_PER_STEP) {
    hasher.update(data.subarray(start, start + BYTES_PER_STEP));
    yield;
  }
  return hasher.digest();
}
