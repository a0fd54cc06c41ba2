import { secp256k1 } from "@noble/curves/secp256k1.js";
import type { Address } from "../primitives/address.ts";
import { concatBytes } from "../primitives/bytes.ts";
import { addressFromPublicKey } from "./secp256k1.ts";

/** 33 bytes from 64 (x ‖ y) or 65 (SEC 1, 2.3.3). */
export function compressPublicKey(publicKey: Uint8Array): Uint8Array {
  const xy = publicKey.length === 65 ? publicKey.subarray(1) : publicKey;
  const prefix = (xy[63]! & 1) === 1 ? 3 : 2;
  return concatBytes(Uint8Array.of(prefix), xy.subarray(0, 32));
}

/** Ethereum address of a compressed key; undefined for bytes that are no point of the curve. */
export function addressOfCompressedKey(publicKey: Uint8Array): Address | undefined {
  if (publicKey.length !== 33) return undefined;
  try {
    return addressFromPublicKey(secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1));
  } catch {
    return undefined;
  }
}
