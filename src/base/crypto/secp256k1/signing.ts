import { createECDH, createHmac, randomBytes } from "node:crypto";
import { bigintToFixedBytes, bytesToBigint, concatBytes } from "../../primitives/bytes.ts";
import { invertModulo } from "../modular.ts";
import type { Signature } from "../secp256k1-backend.ts";
import { ORDER } from "./scalars.ts";

/** The 64-byte public key x ‖ y, by OpenSSL, which multiplies in constant time. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  const exchange = createECDH("secp256k1");
  exchange.setPrivateKey(privateKey);
  return Uint8Array.from(exchange.getPublicKey().subarray(1));
}

/** ECDSA with the nonce of RFC 6979 and low s. @param privateKey 32 bytes in [1, n − 1] */
export function signDeterministically(digest: Uint8Array, privateKey: Uint8Array): Signature {
  const z = bytesToBigint(digest) % ORDER;
  const key = bytesToBigint(privateKey);
  for (const nonce of nonces(z, privateKey)) {
    const point = publicKeyOf(nonce);
    const r = bytesToBigint(point.subarray(0, 32)) % ORDER;
    const s = (invertBlinded(bytesToBigint(nonce)) * ((z + r * key) % ORDER)) % ORDER;
    if (r === 0n || s === 0n) continue;
    const isHigh = s > ORDER / 2n;
    const yParity = ((point[63]! & 1) ^ Number(isHigh)) as 0 | 1;
    return { r, s: isHigh ? ORDER - s : s, yParity };
  }
  throw new Error("unreachable: the nonces do not end");
}

/** Candidates for the nonce, by HMAC-SHA-256 (RFC 6979, 3.2, steps b to h). */
function* nonces(z: bigint, privateKey: Uint8Array): Generator<Uint8Array, never> {
  const mac = (key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array =>
    createHmac("sha256", key)
      .update(concatBytes(...parts))
      .digest();
  const seed = concatBytes(privateKey, bigintToFixedBytes(z, 32));
  let v: Uint8Array = new Uint8Array(32).fill(1);
  let k: Uint8Array = new Uint8Array(32);
  for (const step of [0, 1]) {
    k = mac(k, v, Uint8Array.of(step), seed);
    v = mac(k, v);
  }
  for (;;) {
    v = mac(k, v);
    const candidate = bytesToBigint(v);
    if (candidate > 0n && candidate < ORDER) yield v;
    k = mac(k, v, Uint8Array.of(0));
    v = mac(k, v);
  }
}

/** value⁻¹ modulo n. Inverts a random multiple, since the time of the inversion depends on its operand. */
function invertBlinded(value: bigint): bigint {
  const blind = (bytesToBigint(randomBytes(32)) % (ORDER - 1n)) + 1n;
  return (invertModulo((value * blind) % ORDER, ORDER) * blind) % ORDER;
}
