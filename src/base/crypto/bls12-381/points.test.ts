import assert from "node:assert/strict";
import { test } from "node:test";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { multiplyPoint } from "../../../../test/support/base/crypto/multiply.ts";
import fc from "../../../../test/support/fast-check.ts";
import { bigintToFixedBytes, concatBytes } from "../../primitives/bytes.ts";
import { blsG1Msm, blsG2Msm } from "./bls12-381.ts";
import { blsGroups } from "./points.ts";

const { Fp, Fp2, Fr } = bls12_381.fields;
const ORDER = Fr.ORDER;
/** The oracle takes milliseconds for each. */
const RUNS = Math.ceil(Number(process.env["FUZZ_RUNS"] ?? 250) / 10);

type Point = {
  add(other: Point): Point;
  subtract(other: Point): Point;
  double(): Point;
  multiplyUnsafe(scalar: bigint): Point;
  isTorsionFree(): boolean;
  is0(): boolean;
};

const element = (value: bigint) => bigintToFixedBytes(value, 64);

/** One group of both, as noble has it. */
type Side = {
  readonly name: "g1" | "g2";
  readonly base: Point;
  readonly length: number;
  /** Small primes that divide the cofactor, and the cofactor. */
  readonly factors: readonly bigint[];
  readonly cofactor: bigint;
  readonly msm: (input: Uint8Array) => Uint8Array | string;
  encode(point: Point): Uint8Array;
  /** A point of the curve, seldom of the subgroup; undefined where `x` is not on it. */
  lift(x: bigint): Point | undefined;
};

const G1 = bls12_381.G1.Point;
const G2 = bls12_381.G2.Point;

function orUndefined<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

const SIDES: readonly Side[] = [
  {
    name: "g1",
    base: G1.BASE as unknown as Point,
    length: 128,
    factors: [3n, 11n, 10177n],
    cofactor: G1.CURVE().h,
    msm: blsG1Msm,
    encode(point) {
      if (point.is0()) return new Uint8Array(128);
      const { x, y } = (point as unknown as InstanceType<typeof G1>).toAffine();
      return concatBytes(element(x), element(y));
    },
    lift: (x) =>
      orUndefined(() => {
        const y = Fp.sqrt(Fp.create(x * x * x + 4n));
        return G1.fromAffine({ x: Fp.create(x), y }) as unknown as Point;
      }),
  },
  {
    name: "g2",
    base: G2.BASE as unknown as Point,
    length: 256,
    factors: [13n, 23n, 2713n],
    cofactor: G2.CURVE().h,
    msm: blsG2Msm,
    encode(point) {
      if (point.is0()) return new Uint8Array(256);
      const { x, y } = (point as unknown as InstanceType<typeof G2>).toAffine();
      return concatBytes(element(x.c0), element(x.c1), element(y.c0), element(y.c1));
    },
    lift: (seed) =>
      orUndefined(() => {
        const x = Fp2.fromBigTuple([Fp.create(seed), 1n]);
        const y = Fp2.sqrt(Fp2.add(Fp2.mul(Fp2.sqr(x), x), G2.CURVE().b));
        return G2.fromAffine({ x, y }) as unknown as Point;
      }),
  },
];

/** Scalars and factors of the base where something special happens. */
const scalar = fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(ORDER - 3n, ORDER + 3n), fc.bigInt(0n, 2n ** 256n - 1n));
const factor = fc.oneof(fc.bigInt(0n, 2n), fc.bigInt(ORDER - 2n, ORDER - 1n), fc.bigInt(1n, ORDER - 1n));

for (const { name, base, encode, msm, lift, factors, cofactor } of SIDES) {
  test(`${name}: a multi-scalar multiplication agrees with noble, also on equal and opposite points and on infinity`, () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(factor, scalar), { minLength: 1, maxLength: 14 }), (terms) => {
        const input = terms.flatMap(([a, k]) => [encode(base.multiplyUnsafe(a)), bigintToFixedBytes(k, 32)]);
        const sum = terms.reduce((total, [a, k]) => (total + a * k) % ORDER, 0n);
        assert.deepEqual(msm(concatBytes(...input)), encode(base.multiplyUnsafe(sum)));
      }),
      { numRuns: RUNS },
    );
  });

  test(`${name}: the subgroup check agrees with noble on points of the curve`, () => {
    const group = blsGroups()[name];
    fc.assert(
      fc.property(fc.bigInt(0n, Fp.ORDER - 1n), fc.boolean(), (x, clears) => {
        const point = lift(x);
        fc.pre(point !== undefined);
        const tested = clears ? multiplyPoint(point, cofactor) : point;
        fc.pre(!tested.is0());
        assert.equal(group.isInSubgroup(encode(tested), 0), tested.isTorsionFree());
        assert.equal(group.isInSubgroup(encode(tested), 0), clears);
      }),
      { numRuns: RUNS },
    );
  });

  for (const small of factors) {
    test(`${name}: a point of order ${small} is not in the subgroup, nor is its sum with one that is`, () => {
      // The cofactor without any power of the factor: what is left of a point has such a power as its order.
      let others = cofactor;
      while (others % small === 0n) others /= small;
      let torsion = base.subtract(base);
      for (let x = 0n; torsion.is0(); x++) {
        const point = lift(x);
        if (point) torsion = multiplyPoint(point, others * ORDER);
      }
      for (let next = torsion; !next.is0(); next = multiplyPoint(next, small)) torsion = next;
      const group = blsGroups()[name];
      assert.equal(group.isInSubgroup(encode(torsion), 0), false);
      assert.equal(group.isInSubgroup(encode(torsion.add(base)), 0), false);
      assert.equal(group.isInSubgroup(encode(base), 0), true);
    });
  }
}
