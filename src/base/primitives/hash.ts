import { bytesToHex, dataToBytes, hexToBytes, InvalidHexError } from "./hex.ts";

/** 32 bytes as lower-case hex with prefix: block hash, storage slot, topic, root. Can be a Map key. */
export type Hash = `0x${string}` & { readonly __hash: never };

export const ZERO_HASH = `0x${"00".repeat(32)}` as Hash;

const HASH_PATTERN = /^0x[0-9a-fA-F]{64}$/;

/** @throws InvalidHexError unless `text` is DATA of 32 bytes. */
export function parseHash(text: string): Hash {
  if (!HASH_PATTERN.test(text)) {
    const length = hexToBytes(text).length * 2;
    throw new InvalidHexError(`hex string has length ${length}, want 64 for common.Hash`);
  }
  return text.toLowerCase() as Hash;
}

export function hashFromBytes(bytes: Uint8Array): Hash {
  if (bytes.length !== 32) throw new InvalidHexError(`hash of ${bytes.length} bytes`);
  return bytesToHex(bytes) as Hash;
}

export const hashToBytes = dataToBytes as (hash: Hash) => Uint8Array;

/** `value` as a 32-byte big-endian word, 0 ≤ value < 2^256: the form of a storage slot number. */
export function hashFromBigint(value: bigint): Hash {
  return `0x${value.toString(16).padStart(64, "0")}` as Hash;
}
