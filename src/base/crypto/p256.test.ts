import assert from "node:assert/strict";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import fc from "../../../test/support/fast-check.ts";
import { bigintToFixedBytes, bytesToBigint, concatBytes } from "../primitives/bytes.ts";
import { verifyP256 } from "./p256.ts";

const N = p256.Point.Fn.ORDER;
const P = p256.Point.Fp.ORDER;
const word = (value: bigint) => bigintToFixedBytes(value, 32);
const mod = (value: bigint) => ((value % N) + N) % N;

/** A signature under private key `d` with nonce `k`, both chosen by the caller, so that corner cases can be had. */
function signWith(digest: Uint8Array, d: bigint, k: bigint) {
  const { x, y } = p256.Point.BASE.multiply(d).toAffine();
  const r = mod(p256.Point.BASE.multiply(k).toAffine().x);
  const z = bytesToBigint(digest);
  const s = mod(p256.Point.Fn.inv(k) * (z + r * d));
  return { r, s, publicKey: concatBytes(word(x), word(y)) };
}

const verify = (digest: Uint8Array, r: bigint, s: bigint, publicKey: Uint8Array) =>
  verifyP256(digest, concatBytes(word(r), word(s)), publicKey);

const digests = fc.oneof(
  fc.uint8Array({ minLength: 32, maxLength: 32 }),
  fc.constantFrom(0n, 1n, N - 1n, N, N + 1n, 2n ** 256n - 1n).map(word),
);
/** Also keys and nonces for which both terms of the sum are multiples of the generator that lie side by side. */
const privates = fc.oneof(fc.bigInt(1n, 4n), fc.bigInt(N - 4n, N - 1n), fc.bigInt(1n, N - 1n));

test("verifyP256 accepts signatures of the key with either s, and nothing else", () => {
  fc.assert(
    fc.property(digests, privates, privates, fc.nat(255), (digest, d, k, bit) => {
      const { r, s, publicKey } = signWith(digest, d, k);
      fc.pre(r !== 0n && s !== 0n);
      assert.equal(verify(digest, r, s, publicKey), true);
      assert.equal(verify(digest, r, N - s, publicKey), true);
      assert.equal(verify(digest, r, mod(s + 1n) || 1n, publicKey), false);
      const other = Uint8Array.from(digest);
      other[bit >> 3]! ^= 1 << (bit & 7);
      // No two digests one bit apart are equal modulo n.
      assert.equal(verify(other, r, s, publicKey), false);
    }),
    { numRuns: 40 },
  );
});

test("verifyP256 rejects r and s out of range", () => {
  const digest = new Uint8Array(32).fill(7);
  const { r, s, publicKey } = signWith(digest, 5n, 9n);
  for (const bad of [0n, N, N + 1n, 2n ** 256n - 1n]) {
    assert.equal(verify(digest, bad, s, publicKey), false);
    assert.equal(verify(digest, r, bad, publicKey), false);
  }
});

test("verifyP256 rejects public keys that are no points", () => {
  const digest = new Uint8Array(32).fill(7);
  const { r, s, publicKey } = signWith(digest, 5n, 9n);
  const x = publicKey.subarray(0, 32);
  const y = publicKey.subarray(32);
  assert.equal(verify(digest, r, s, new Uint8Array(64)), false);
  assert.equal(verify(digest, r, s, concatBytes(y, x)), false);
  assert.equal(verify(digest, r, s, concatBytes(x, word(P))), false);
  assert.equal(verify(digest, r, s, concatBytes(word(2n ** 256n - 1n), y)), false);
});

test("verifyP256 rejects a sum at infinity", () => {
  // With u1·G = −u2·Q the sum is infinity: s arbitrary, z = −r·d.
  const d = 3n;
  const r = 12345n;
  const { x, y } = p256.Point.BASE.multiply(d).toAffine();
  const publicKey = concatBytes(word(x), word(y));
  assert.equal(verify(word(mod(-r * d)), r, 77n, publicKey), false);
});

test("verifyP256 accepts an x coordinate at or above the group order, reduced to r", () => {
  // One in 2^32 points has such an x, so the key is computed from the point: Q = (R − u1·G) / u2.
  const Fp = p256.Point.Fp;
  const { a, b } = p256.Point.CURVE();
  const [u1, u2] = [0x1234567890abcdefn, 0xfedcba0987654321n];
  let found = 0;
  for (let x = N; found < 4; x++) {
    const square = Fp.create(x * x * x + a * x + b);
    if (Fp.pow(square, (P - 1n) / 2n) !== 1n) continue;
    found++;
    const sum = p256.Point.fromAffine({ x, y: Fp.sqrt(square) });
    const key = sum.subtract(p256.Point.BASE.multiply(u1)).multiply(p256.Point.Fn.inv(u2));
    const r = x - N;
    if (r === 0n) continue;
    const s = mod(r * p256.Point.Fn.inv(u2));
    const { x: keyX, y: keyY } = key.toAffine();
    const publicKey = concatBytes(word(keyX), word(keyY));
    assert.equal(verify(word(mod(u1 * s)), r, s, publicKey), true);
    assert.equal(verify(word(mod(u1 * s + 1n)), r, s, publicKey), false);
  }
});
