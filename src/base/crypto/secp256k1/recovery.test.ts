import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 as noble } from "@noble/curves/secp256k1.js";
import fc from "../../../../test/support/fast-check.ts";
import { bigintToFixedBytes } from "../../primitives/bytes.ts";
import { invertAllModulo, invertModulo } from "../modular.ts";
import { hasScalars, signatureBytes } from "../secp256k1.ts";
import type { SignedDigest } from "../secp256k1-backend.ts";
import { createKeyRecovery } from "./recovery.ts";
import { DIGIT_COUNT, LAMBDA, ORDER, splitScalar, writeDigits } from "./scalars.ts";

const recovery = createKeyRecovery();

/** The key by an independent implementation. */
function keyByNoble({ digest, signature, yParity }: SignedDigest): Uint8Array | undefined {
  try {
    const signed = noble.Signature.fromBytes(signature).addRecoveryBit(yParity);
    return signed.recoverPublicKey(digest).toBytes(false).subarray(1);
  } catch {
    return undefined;
  }
}

const modulo = (value: bigint) => ((value % ORDER) + ORDER) % ORDER;

/** The signature whose key is u1·G + u2·R with R = k·G. */
function signatureOf(u1: bigint, u2: bigint, k: bigint): SignedDigest {
  const point = noble.Point.BASE.multiply(modulo(k)).toAffine();
  const r = modulo(point.x);
  return {
    digest: bigintToFixedBytes(modulo(-u1 * r), 32),
    signature: signatureBytes(r, modulo(u2 * r)),
    yParity: Number(point.y & 1n) as 0 | 1,
  };
}

/** The parts of u1·G that the lower and the upper 16 bytes of the scalar select. */
function halvesOf(u1: bigint): readonly [bigint, bigint] {
  const odd = u1 % 2n === 1n ? u1 : u1 - ORDER;
  const bits = (odd + 2n ** 256n - 1n) >> 1n;
  const low = 2n * (bits % 2n ** 128n) - (2n ** 128n - 1n);
  return [low, odd - low];
}

const scalars = fc.bigInt({ min: 1n, max: ORDER - 1n });
const signatures = fc.record({
  digest: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  signature: fc.tuple(scalars, scalars).map(([r, s]) => signatureBytes(r, s)),
  yParity: fc.constantFrom(0 as const, 1 as const),
});

test("a batch of any size gives the keys that an independent implementation finds, and undefined where r is on no point", () => {
  const expected = new Map<SignedDigest, Uint8Array | undefined>();
  const pool = fc.sample(signatures, { numRuns: 80, seed: 1 });
  for (const signed of pool) expected.set(signed, keyByNoble(signed));
  for (const size of [0, 1, 2, 3, 6, 11, 22, 64, 65, 80]) {
    const batch = pool.slice(0, size);
    assert.deepEqual(
      recovery.recover(batch),
      batch.map((signed) => expected.get(signed)),
    );
  }
  assert.ok([...expected.values()].includes(undefined));
});

test("scalars at the borders, and digests that are 0 or not below n", () => {
  const borders = [1n, 2n, 3n, ORDER / 2n, ORDER / 2n + 1n, ORDER - 2n, ORDER - 1n];
  const digests = [0n, 1n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n];
  const batch = borders.flatMap((r) =>
    borders.flatMap((s) =>
      digests.map(
        (digest, i): SignedDigest => ({
          digest: bigintToFixedBytes(digest, 32),
          signature: signatureBytes(r, s),
          yParity: (i & 1) as 0 | 1,
        }),
      ),
    ),
  );
  assert.deepEqual(recovery.recover(batch), batch.map(keyByNoble));
});

test("sums of equal and of opposite points, in batches of every shape", () => {
  fc.assert(
    fc.property(
      scalars,
      fc.constantFrom(1n, 2n, 3n, 8n, ORDER - 1n, LAMBDA, (ORDER + 1n) / 2n),
      fc.bigInt({ min: 0n, max: 2n ** 128n }),
      fc.constantFrom(1, 3, 6, 11, 22),
      (u1, k, near, size) => {
        const inverse = invertModulo(k, ORDER);
        const [low, high] = halvesOf(u1);
        const products = [low, -low, high, -high, high - low, -high - low, u1, -u1, 2n * low];
        const crafted = [
          // u2·R is one of the points it is added to, or its negative; −u1·G makes the key infinite.
          ...products.map((product) => signatureOf(u1, modulo(product * inverse), k)),
          // Both halves of u1·G are the same point.
          signatureOf(ORDER - 2n * near - 2n, u1, k),
          signatureOf(ORDER - 2n * near - 1n, u1, k),
          signatureOf(0n, u1, k),
        ].filter(hasScalars);
        const expected = crafted.map(keyByNoble);
        assert.ok(expected.includes(undefined));
        for (let at = 0; at < crafted.length; at += size) {
          const batch = crafted.slice(at, at + size);
          assert.deepEqual(recovery.recover(batch), expected.slice(at, at + size));
        }
      },
    ),
    { numRuns: 10 },
  );
});

test("a scalar is split into halves below 2^128, and their digits sum up to them", () => {
  const digits = new Int8Array(DIGIT_COUNT);
  const borders = fc.constantFrom(0n, 1n, LAMBDA, ORDER - LAMBDA, ORDER - 1n, ORDER / 2n);
  fc.assert(
    fc.property(fc.oneof(scalars, borders), (scalar) => {
      const halves = splitScalar(scalar);
      assert.equal(modulo(halves[0] + halves[1] * LAMBDA), scalar);
      for (const half of halves) {
        assert.ok(half < 2n ** 128n && half > -(2n ** 128n));
        writeDigits(digits, half);
        const sum = digits.reduceRight((total, digit) => 2n * total + BigInt(digit), 0n);
        assert.equal(sum, half);
        assert.ok(digits.every((digit) => digit === 0 || (digit % 2 !== 0 && Math.abs(digit) < 16)));
      }
    }),
  );
});

test("invertAllModulo inverts each value", () => {
  fc.assert(
    fc.property(fc.array(scalars, { minLength: 1, maxLength: 20 }), (values) => {
      invertAllModulo(values, ORDER).forEach((inverse, i) => {
        assert.equal(modulo(inverse * values[i]!), 1n);
      });
    }),
  );
});
