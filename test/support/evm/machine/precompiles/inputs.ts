import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bn254 } from "@noble/curves/bn254.js";
import { p256 } from "@noble/curves/nist.js";
import { sign } from "../../../../../src/base/crypto/secp256k1.ts";
import { bigintToFixedBytes, concatBytes } from "../../../../../src/base/primitives/bytes.ts";
import fc from "../../../fast-check.ts";

/**
 * Inputs for each precompile by its name in eth_config: mostly well formed, some with points beside the curve, outside of the
 * subgroup or beyond the field, some cut, lengthened or with a byte changed.
 */
export const precompileInputs: Readonly<Record<string, fc.Arbitrary<Uint8Array>>> = {
  ECREC: damaged(ecrecInput()),
  SHA256: fc.uint8Array({ maxLength: 200 }),
  RIPEMD160: fc.uint8Array({ maxLength: 200 }),
  ID: fc.uint8Array({ maxLength: 200 }),
  MODEXP: damaged(modexpInput()),
  BN254_ADD: damaged(rows(bnG1(), bnG1())),
  BN254_MUL: damaged(rows(bnG1(), scalar(bn254.fields.Fr.ORDER))),
  BN254_PAIRING: damaged(fc.array(rows(bnG1(), bnG2()), { maxLength: 2 }).map(joined)),
  BLAKE2F: damaged(blakeInput()),
  BLS12_G1ADD: damaged(rows(blsG1(), blsG1())),
  BLS12_G1MSM: damaged(repeated(rows(blsG1(), scalar(bls12_381.fields.Fr.ORDER)), 5)),
  BLS12_G2ADD: damaged(rows(blsG2(), blsG2())),
  BLS12_G2MSM: damaged(repeated(rows(blsG2(), scalar(bls12_381.fields.Fr.ORDER)), 3)),
  BLS12_PAIRING_CHECK: damaged(repeated(rows(blsG1(), blsG2()), 2)),
  BLS12_MAP_FP_TO_G1: damaged(blsElement()),
  BLS12_MAP_FP2_TO_G2: damaged(rows(blsElement(), blsElement())),
  P256VERIFY: damaged(p256Input()),
};

/** The input as it is, or with one thing done to it. */
function damaged(input: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const damage = fc.oneof(
    { weight: 5, arbitrary: fc.constant((bytes: Uint8Array) => bytes) },
    { weight: 1, arbitrary: fc.nat(40).map((n) => (bytes: Uint8Array) => bytes.slice(0, -1 - n)) },
    {
      weight: 1,
      arbitrary: fc
        .uint8Array({ minLength: 1, maxLength: 40 })
        .map((tail) => (bytes: Uint8Array) => concatBytes(bytes, tail)),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })).map(
        ([at, change]) =>
          (bytes: Uint8Array) =>
            bytes.map((byte, i) => (i === at % bytes.length ? byte ^ change : byte)),
      ),
    },
  );
  return fc.tuple(input, damage).map(([bytes, change]) => change(bytes));
}

function word(value: bigint): Uint8Array {
  return bigintToFixedBytes(value, 32);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return concatBytes(...parts);
}

function rows(...parts: fc.Arbitrary<Uint8Array>[]): fc.Arbitrary<Uint8Array> {
  return fc.tuple(...parts).map(joined);
}

function repeated(part: fc.Arbitrary<Uint8Array>, maxLength: number): fc.Arbitrary<Uint8Array> {
  return fc.array(part, { minLength: 1, maxLength }).map(joined);
}

function scalar(order: bigint): fc.Arbitrary<Uint8Array> {
  return fc.oneof(fc.bigInt(0n, 2n), fc.bigInt(order - 2n, order + 2n), fc.bigInt(0n, 2n ** 256n - 1n)).map(word);
}

function ecrecInput(): fc.Arbitrary<Uint8Array> {
  const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const signed = fc.tuple(bytes32, fc.bigInt(1n, 2n ** 255n)).map(([digest, key]) => {
    const { r, s, yParity } = sign(digest, word(key));
    return concatBytes(digest, word(27n + BigInt(yParity)), word(r), word(s));
  });
  const v = fc.oneof(fc.bigInt(25n, 30n), fc.constant(2n ** 255n + 27n)).map(word);
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  return fc.oneof(signed, rows(bytes32, v, scalar(order), scalar(order)));
}

function modexpInput(): fc.Arbitrary<Uint8Array> {
  const length = fc.oneof(
    { weight: 6, arbitrary: fc.nat(70) },
    { weight: 2, arbitrary: fc.constantFrom(0, 1, 31, 32, 33, 64, 65) },
    { weight: 1, arbitrary: fc.constantFrom(1023, 1024, 1025) },
  );
  const body = fc
    .tuple(length, length, length)
    .chain(([base, exponent, modulus]) =>
      fc
        .uint8Array({ minLength: 0, maxLength: base + exponent + modulus })
        .map((tail) => concatBytes(...[base, exponent, modulus].map((n) => word(BigInt(n))), tail)),
    );
  const small = fc
    .tuple(fc.uint8Array({ minLength: 3, maxLength: 3 }), fc.constantFrom(0, 1, 2, 255))
    .map(([values, modulus]) =>
      concatBytes(word(1n), word(1n), word(1n), values.subarray(0, 2), Uint8Array.of(modulus)),
    );
  const vast = fc
    .tuple(fc.bigInt(0n, 2n ** 70n), fc.bigInt(0n, 2n ** 70n), fc.bigInt(0n, 2n ** 70n))
    .map((lengths) => joined(lengths.map(word)));
  return fc.oneof({ weight: 6, arbitrary: body }, { weight: 2, arbitrary: small }, { weight: 1, arbitrary: vast });
}

function blakeInput(): fc.Arbitrary<Uint8Array> {
  const rounds = fc.oneof(fc.nat(30), fc.integer({ min: 19_990, max: 60_020 }));
  return fc
    .tuple(rounds, fc.uint8Array({ minLength: 208, maxLength: 208 }), fc.constantFrom(0, 1, 1, 2))
    .map(([count, body, final]) => concatBytes(bigintToFixedBytes(BigInt(count), 4), body, Uint8Array.of(final)));
}

function p256Input(): fc.Arbitrary<Uint8Array> {
  const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
  return fc.tuple(bytes32, fc.bigInt(1n, 2n ** 255n)).map(([digest, key]) => {
    const signature = p256.sign(digest, word(key), { prehash: false, lowS: false });
    return concatBytes(digest, signature, p256.getPublicKey(word(key), false).subarray(1));
  });
}

type Affine<T> = { readonly x: T; readonly y: T };
type Pair = { readonly c0: bigint; readonly c1: bigint };

function bnG1(): fc.Arbitrary<Uint8Array> {
  const encode = ({ x, y }: Affine<bigint>) => concatBytes(word(x), word(y));
  const points = [1n, 2n, 3n, bn254.fields.Fr.ORDER - 1n, 1234567n].map((k) =>
    encode(bn254.G1.Point.BASE.multiply(k).toAffine()),
  );
  const { ORDER } = bn254.fields.Fp;
  const bad = [encode({ x: 1n, y: 1n }), encode({ x: ORDER, y: 0n }), encode({ x: 0n, y: ORDER })];
  return mostly([...points, new Uint8Array(64)], bad);
}

function bnG2(): fc.Arbitrary<Uint8Array> {
  const encode = ({ x, y }: Affine<Pair>) => joined([x.c1, x.c0, y.c1, y.c0].map(word));
  const points = [1n, 2n, bn254.fields.Fr.ORDER - 1n, 98765n].map((k) =>
    encode(bn254.G2.Point.BASE.multiply(k).toAffine()),
  );
  const { Fp2 } = bn254.fields;
  const other = pointWithin<Pair>(Fp2, bn254.G2.Point.CURVE().b, (i) => Fp2.fromBigTuple([i, 1n]));
  const bad = [encode(other), encode({ x: { c0: 1n, c1: 2n }, y: { c0: 3n, c1: 4n } })];
  return mostly([...points, new Uint8Array(128)], bad);
}

function element(value: bigint): Uint8Array {
  return bigintToFixedBytes(value, 64);
}

function blsElement(): fc.Arbitrary<Uint8Array> {
  const { ORDER } = bls12_381.fields.Fp;
  return fc.oneof(fc.bigInt(0n, 2n), fc.bigInt(ORDER - 2n, ORDER + 1n), fc.bigInt(0n, ORDER - 1n)).map(element);
}

function blsG1(): fc.Arbitrary<Uint8Array> {
  const encode = ({ x, y }: Affine<bigint>) => concatBytes(element(x), element(y));
  const { Fp, Fr } = bls12_381.fields;
  const points = [1n, 2n, 3n, Fr.ORDER - 1n, 1234567n].map((k) =>
    encode(bls12_381.G1.Point.BASE.multiply(k).toAffine()),
  );
  const other = pointWithin(Fp, 4n, (i) => i);
  const bad = [encode(other), encode({ x: 1n, y: 1n }), encode({ x: Fp.ORDER, y: 0n })];
  return mostly([...points, new Uint8Array(128)], bad);
}

function blsG2(): fc.Arbitrary<Uint8Array> {
  const encode = ({ x, y }: Affine<Pair>) => joined([x.c0, x.c1, y.c0, y.c1].map(element));
  const { Fp2, Fr } = bls12_381.fields;
  const points = [1n, 2n, Fr.ORDER - 1n, 98765n].map((k) => encode(bls12_381.G2.Point.BASE.multiply(k).toAffine()));
  const other = pointWithin<Pair>(Fp2, bls12_381.G2.Point.CURVE().b, (i) => Fp2.fromBigTuple([i, 1n]));
  const bad = [encode(other), encode({ x: { c0: 1n, c1: 2n }, y: { c0: 3n, c1: 4n } })];
  return mostly([...points, new Uint8Array(256)], bad);
}

function mostly(good: readonly Uint8Array[], bad: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: fc.constantFrom(...bad) },
  );
}

type Field<T> = {
  readonly add: (a: T, b: T) => T;
  readonly mul: (a: T, b: T) => T;
  readonly sqr: (a: T) => T;
  readonly sqrt: (a: T) => T;
};

/** Some point of y² = x³ + b; on curves with a large cofactor it is not in the subgroup. */
function pointWithin<T>(field: Field<T>, b: T, candidate: (i: bigint) => T): Affine<T> {
  for (let i = 1n; ; i++) {
    const x = candidate(i);
    try {
      return { x, y: field.sqrt(field.add(field.mul(field.sqr(x), x), b)) };
    } catch {
      // Not a square: the next x.
    }
  }
}
