import assert from "node:assert/strict";
import { test } from "node:test";
import { bn254 } from "@noble/curves/bn254.js";
import { multiplyPoint } from "../../../test/support/base/crypto/multiply.ts";
import fc from "../../../test/support/fast-check.ts";
import { bigintToFixedBytes, concatBytes } from "../primitives/bytes.ts";
import { bn254Add, bn254Multiply, bn254PairingIsOne } from "./bn254.ts";

const { Point: G1 } = bn254.G1;
const { Point: G2 } = bn254.G2;
const P = bn254.fields.Fp.ORDER;
const ORDER = bn254.fields.Fr.ORDER;

const word = (value: bigint) => bigintToFixedBytes(value, 32);
const INFINITY = new Uint8Array(64);

function g1(scalar: bigint): Uint8Array {
  if (scalar % ORDER === 0n) return INFINITY;
  const { x, y } = G1.BASE.multiply(scalar % ORDER).toAffine();
  return concatBytes(word(x), word(y));
}

function g2(scalar: bigint): Uint8Array {
  if (scalar % ORDER === 0n) return new Uint8Array(128);
  const { x, y } = G2.BASE.multiply(scalar % ORDER).toAffine();
  return concatBytes(word(x.c1), word(x.c0), word(y.c1), word(y.c0));
}

/** Small ones, ones around the order, and any. */
const scalar = fc.oneof(fc.bigInt(0n, 5n), fc.bigInt(ORDER - 3n, ORDER + 3n), fc.bigInt(0n, 2n ** 256n - 1n));

test("bn254Add agrees with noble for any two points", () => {
  fc.assert(
    fc.property(scalar, scalar, (a, b) => {
      assert.deepEqual(bn254Add(concatBytes(g1(a), g1(b))), g1(a + b));
    }),
    { numRuns: 40 },
  );
});

test("bn254Multiply agrees with noble for any point and scalar", () => {
  fc.assert(
    fc.property(scalar, scalar, (a, k) => {
      assert.deepEqual(bn254Multiply(concatBytes(g1(a), word(k))), g1(a * k));
    }),
    { numRuns: 40 },
  );
});

test("bn254PairingIsOne is true exactly when the products of the scalars sum to zero", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(scalar, scalar), { maxLength: 4 }), fc.boolean(), (pairs, cancel) => {
      const sum = pairs.reduce((total, [a, b]) => (total + a * b) % ORDER, 0n);
      const all = cancel ? [...pairs, [ORDER - sum, 1n] as const] : pairs;
      const input = concatBytes(...all.flatMap(([a, b]) => [g1(a), g2(b)]));
      assert.equal(bn254PairingIsOne(input), cancel || sum === 0n);
    }),
    { numRuns: 12 },
  );
});

test("bn254 points beside the curve, beyond the field or of another order are rejected", () => {
  const offCurve = concatBytes(word(1n), word(3n));
  const offField = concatBytes(word(1n + P), word(2n));
  assert.equal(bn254Add(concatBytes(offCurve, g1(1n))), "curve");
  assert.equal(bn254Add(concatBytes(g1(1n), offField)), "field");
  assert.equal(bn254Multiply(concatBytes(word(0n), word(P), word(1n))), "field");
  assert.equal(bn254Multiply(concatBytes(word(0n), word(1n), word(0n))), "curve");

  const other = g2OutsideTheSubgroup();
  assert.equal(bn254PairingIsOne(concatBytes(g1(1n), other)), "subgroup");
  // Rejected even where its pairing partner is infinity.
  assert.equal(bn254PairingIsOne(concatBytes(INFINITY, other)), "subgroup");
  const broken = Uint8Array.from(other);
  broken[127]! ^= 1;
  assert.equal(bn254PairingIsOne(concatBytes(g1(1n), broken)), "curve");
});

test("the subgroup check of bn254 agrees with noble on points of the twist, including points of small order", () => {
  const { Fp2 } = bn254.fields;
  const pairs = (point: InstanceType<typeof G2>) => {
    const { x, y } = point.toAffine();
    const coordinates = [x.c1, x.c0, y.c1, y.c0].map(word);
    return bn254PairingIsOne(concatBytes(INFINITY, ...coordinates));
  };
  // The cofactor of the twist is 2p − r.
  const cofactor = 2n * P - ORDER;
  fc.assert(
    fc.property(fc.bigInt(0n, P - 1n), fc.bigInt(1n, ORDER - 1n), (seed, k) => {
      const x = Fp2.fromBigTuple([seed, 1n]);
      const right = Fp2.add(Fp2.mul(Fp2.sqr(x), x), G2.CURVE().b);
      fc.pre(Fp2.eql(Fp2.pow(right, (Fp2.ORDER - 1n) / 2n), Fp2.ONE));
      const point = G2.fromAffine({ x, y: Fp2.sqrt(right) });
      const cleared = multiplyPoint(point, cofactor);
      assert.equal(pairs(cleared), true);
      for (const small of [10069n, 5864401n]) {
        const torsion = multiplyPoint(point, (cofactor / small) * ORDER);
        if (torsion.is0()) continue;
        assert.equal(pairs(torsion), "subgroup");
        assert.equal(pairs(torsion.add(G2.BASE.multiply(k))), "subgroup");
      }
      assert.equal(pairs(point), "subgroup");
    }),
    { numRuns: Math.ceil(Number(process.env["FUZZ_RUNS"] ?? 300) / 100) },
  );
});

/** A point of the twist whose order is not r: nearly every x gives one. */
function g2OutsideTheSubgroup(): Uint8Array {
  const { Fp2 } = bn254.fields;
  const b = G2.CURVE().b;
  for (let i = 1n; ; i++) {
    const x = Fp2.fromBigTuple([i, 1n]);
    const right = Fp2.add(Fp2.mul(Fp2.sqr(x), x), b);
    try {
      const y = Fp2.sqrt(right);
      return concatBytes(word(x.c1), word(x.c0), word(y.c1), word(y.c0));
    } catch {
      // Not a square: the next x.
    }
  }
}
