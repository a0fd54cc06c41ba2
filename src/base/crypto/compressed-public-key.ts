import type { Address } from "../primitives/address.ts";
import { bigintToFixedBytes, bytesToBigint, concatBytes } from "../primitives/bytes.ts";
import { powerModulo } from "./modular.ts";
import { addressFromPublicKey } from "./secp256k1.ts";

/** Prime of the field of secp256k1. */
const FIELD = 2n ** 256n - 2n ** 32n - 977n;

/** 33 bytes from 64 (x ‖ y) or 65 (SEC 1, 2.3.3). */
export function compressPublicKey(publicKey: Uint8Array): Uint8Array {
  const xy = publicKey.length === 65 ? publicKey.subarray(1) : publicKey;
  const prefix = (xy[63]! & 1) === 1 ? 3 : 2;
  return concatBytes(Uint8Array.of(prefix), xy.subarray(0, 32));
}

/** Ethereum address of a compressed key; undefined if the bytes are not a point on the curve. */
export function addressOfCompressedKey(publicKey: Uint8Array): Address | undefined {
  const [prefix] = publicKey;
  if (publicKey.length !== 33 || (prefix !== 2 && prefix !== 3)) return undefined;
  const encodedX = publicKey.subarray(1);
  const x = bytesToBigint(encodedX);
  if (x >= FIELD) return undefined;
  // The curve is y² = x³ + 7, and 4 divides FIELD + 1.
  const square = (x ** 3n + 7n) % FIELD;
  const root = powerModulo(square, (FIELD + 1n) / 4n, FIELD);
  if ((root * root) % FIELD !== square) return undefined;
  const y = Number(root & 1n) === (prefix & 1) ? root : FIELD - root;
  return addressFromPublicKey(concatBytes(encodedX, bigintToFixedBytes(y, 32)));
}
