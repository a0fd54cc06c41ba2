import assert from "node:assert/strict";
import { test } from "node:test";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import fc from "../../../../test/support/fast-check.ts";
import { bigintToFixedBytes, concatBytes } from "../../primitives/bytes.ts";
import { blsG1Add, blsG1Msm, blsG2Add, blsG2Msm, blsMapFp2ToG2, blsMapFpToG1, blsPairingIsOne } from "./bls12-381.ts";

const G1 = bls12_381.G1.Point;
const G2 = bls12_381.G2.Point;
const { Fp, Fp2 } = bls12_381.fields;
const P = Fp.ORDER;
const ORDER = bls12_381.fields.Fr.ORDER;

type G1Point = InstanceType<typeof G1>;
type G2Point = InstanceType<typeof G2>;

const element = (value: bigint) => bigintToFixedBytes(value, 64);
const word = (value: bigint) => bigintToFixedBytes(value, 32);

function encodeG1(point: G1Point): Uint8Array {
  if (point.is0()) return new Uint8Array(128);
  const { x, y } = point.toAffine();
  return concatBytes(element(x), element(y));
}

function encodeG2(point: G2Point): Uint8Array {
  if (point.is0()) return new Uint8Array(256);
  const { x, y } = point.toAffine();
  return concatBytes(element(x.c0), element(x.c1), element(y.c0), element(y.c1));
}

const times = <T>(base: { multiplyUnsafe(scalar: bigint): T }, scalar: bigint) => base.multiplyUnsafe(scalar % ORDER);
const g1 = (scalar: bigint) => times(G1.BASE, scalar);
const g2 = (scalar: bigint) => times(G2.BASE, scalar);

/** Small ones, ones around the order, and any. */
const scalar = fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(ORDER - 2n, ORDER + 2n), fc.bigInt(0n, 2n ** 256n - 1n));

test("blsG1Add and blsG2Add agree with noble", () => {
  fc.assert(
    fc.property(scalar, scalar, (a, b) => {
      assert.deepEqual(blsG1Add(concatBytes(encodeG1(g1(a)), encodeG1(g1(b)))), encodeG1(g1(a + b)));
      assert.deepEqual(blsG2Add(concatBytes(encodeG2(g2(a)), encodeG2(g2(b)))), encodeG2(g2(a + b)));
    }),
    { numRuns: 20 },
  );
});

test("blsG1Add and blsG2Add take points outside of the subgroup", () => {
  const p = g1OutsideTheSubgroup();
  const q = g2OutsideTheSubgroup();
  assert.deepEqual(blsG1Add(concatBytes(encodeG1(p), encodeG1(G1.BASE))), encodeG1(p.add(G1.BASE)));
  assert.deepEqual(blsG1Add(concatBytes(encodeG1(p), encodeG1(p))), encodeG1(p.double()));
  assert.deepEqual(blsG2Add(concatBytes(encodeG2(q), encodeG2(G2.BASE))), encodeG2(q.add(G2.BASE)));
  assert.deepEqual(blsG2Add(concatBytes(encodeG2(q), encodeG2(q))), encodeG2(q.double()));
});

test("blsG1Msm and blsG2Msm agree with noble for any points and scalars", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(scalar, scalar), { minLength: 1, maxLength: 40 }), (terms) => {
      const sum = terms.reduce((total, [a, k]) => total + a * k, 0n);
      const inG1 = terms.flatMap(([a, k]) => [encodeG1(g1(a)), word(k)]);
      assert.deepEqual(blsG1Msm(concatBytes(...inG1)), encodeG1(g1(sum)));
      const inG2 = terms.flatMap(([a, k]) => [encodeG2(g2(a)), word(k)]);
      assert.deepEqual(blsG2Msm(concatBytes(...inG2)), encodeG2(g2(sum)));
    }),
    { numRuns: 8 },
  );
});

test("blsG1Msm of more terms than fit mcl's first memory is right", () => {
  const term = concatBytes(encodeG1(g1(5n)), word(7n));
  const many = concatBytes(...Array.from({ length: 8000 }, () => term));
  assert.deepEqual(blsG1Msm(many), encodeG1(g1(35n * 8000n)));
});

test("blsMapFpToG1 and blsMapFp2ToG2 agree with noble", () => {
  const field = fc.oneof(fc.bigInt(0n, 2n), fc.bigInt(P - 2n, P - 1n), fc.bigInt(0n, P - 1n));
  fc.assert(
    fc.property(field, field, (a, b) => {
      // Other than its types say, noble takes one element here, clears the cofactor and returns a point.
      const inG1 = bls12_381.G1.mapToCurve(a as never) as unknown as G1Point;
      const mapped = bls12_381.G2.mapToCurve([a, b]) as unknown as G2Point;
      assert.deepEqual(blsMapFpToG1(element(a)), encodeG1(inG1));
      assert.deepEqual(blsMapFp2ToG2(concatBytes(element(a), element(b))), encodeG2(mapped));
    }),
    { numRuns: 20 },
  );
});

test("blsPairingIsOne is true exactly when the products of the scalars sum to zero", () => {
  const pairs = fc.array(fc.tuple(scalar, scalar), { maxLength: 4 });
  fc.assert(
    fc.property(pairs, fc.boolean(), (some, cancel) => {
      const sum = some.reduce((total, [a, b]) => (total + a * b) % ORDER, 0n);
      const all = cancel ? [...some, [ORDER - sum, 1n] as const] : some;
      const input = concatBytes(...all.flatMap(([a, b]) => [encodeG1(g1(a)), encodeG2(g2(b))]));
      assert.equal(blsPairingIsOne(input), cancel || sum === 0n);
    }),
    { numRuns: 8 },
  );
});

test("points outside of the subgroup are rejected where EIP-2537 asks for it", () => {
  const p = encodeG1(g1OutsideTheSubgroup());
  const q = encodeG2(g2OutsideTheSubgroup());
  assert.equal(blsG1Msm(concatBytes(p, word(0n))), "g1Subgroup");
  assert.equal(blsG2Msm(concatBytes(q, word(0n))), "g2Subgroup");
  assert.equal(blsPairingIsOne(concatBytes(p, encodeG2(G2.BASE))), "g1Subgroup");
  // Rejected even where the pairing partner is infinity.
  assert.equal(blsPairingIsOne(concatBytes(new Uint8Array(128), q)), "g2Subgroup");
});

test("a field element not below the modulus, or with bytes before it, is rejected", () => {
  const padded = element(1n);
  padded[15] = 1;
  const modulus = element(P);
  assert.equal(blsMapFpToG1(padded), "padding");
  assert.equal(blsMapFpToG1(modulus), "field");
  assert.equal(blsMapFp2ToG2(concatBytes(element(1n), modulus)), "field");
  assert.equal(blsG1Add(concatBytes(encodeG1(G1.BASE), element(0n), modulus)), "field");
  assert.equal(blsG2Add(concatBytes(encodeG2(G2.BASE), padded, encodeG2(G2.BASE).subarray(64))), "padding");
});

test("a point beside the curve is rejected", () => {
  const beside = concatBytes(element(1n), element(1n));
  assert.equal(blsG1Add(concatBytes(encodeG1(G1.BASE), beside)), "curve");
  assert.equal(blsG1Msm(concatBytes(element(0n), element(1n), word(0n))), "curve");
  const besideG2 = encodeG2(G2.BASE);
  besideG2[255]! ^= 1;
  assert.equal(blsG2Msm(concatBytes(besideG2, word(1n))), "curve");
  assert.equal(blsPairingIsOne(concatBytes(encodeG1(G1.BASE), besideG2)), "curve");
});

function g1OutsideTheSubgroup(): G1Point {
  for (let x = 1n; ; x++) {
    const right = Fp.create(x * x * x + 4n);
    try {
      const point = G1.fromAffine({ x, y: Fp.sqrt(right) });
      if (!point.isTorsionFree()) return point;
    } catch {
      // Not a square: the next x.
    }
  }
}

function g2OutsideTheSubgroup(): G2Point {
  for (let i = 1n; ; i++) {
    const x = Fp2.fromBigTuple([i, 1n]);
    const right = Fp2.add(Fp2.mul(Fp2.sqr(x), x), G2.CURVE().b);
    try {
      const point = G2.fromAffine({ x, y: Fp2.sqrt(right) });
      if (!point.isTorsionFree()) return point;
    } catch {
      // Not a square: the next x.
    }
  }
}

test("blsPairingIsOne multiplies more pairs than share one Miller loop", () => {
  const scalars = Array.from({ length: 35 }, (_, i) => BigInt(i + 1) ** 5n);
  const sum = scalars.reduce((total, scalar) => total + scalar, 0n);
  const pairs = scalars.map((scalar) => concatBytes(encodeG1(g1(scalar)), encodeG2(G2.BASE)));
  const last = (scalar: bigint) => concatBytes(encodeG1(g1(ORDER - scalar)), encodeG2(G2.BASE));
  assert.equal(blsPairingIsOne(concatBytes(...pairs, last(sum))), true);
  assert.equal(blsPairingIsOne(concatBytes(...pairs, last(sum + 1n))), false);
  assert.equal(blsPairingIsOne(concatBytes(...pairs)), false);
});

test("blsPairingIsOne calls the checkpoint within each Miller loop, and rethrows its error", () => {
  const pair = concatBytes(encodeG1(G1.BASE), encodeG2(G2.BASE));
  let calls = 0;
  blsPairingIsOne(pair, () => calls++);
  assert.ok(calls > 64, `${calls} calls`);
  const stop = new Error("stop");
  let left = 40;
  const stopAfter = () => {
    if (--left === 0) throw stop;
  };
  assert.throws(() => blsPairingIsOne(pair, stopAfter), stop);
  // The memory that the next pairing finds is no obstacle to it.
  const opposite = concatBytes(encodeG1(G1.BASE.negate() as G1Point), encodeG2(G2.BASE));
  assert.equal(blsPairingIsOne(concatBytes(pair, opposite)), true);
});
