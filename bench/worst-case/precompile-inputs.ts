/** For each precompile the valid inputs that take most time for their gas. */
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bn254 } from "@noble/curves/bn254.js";
import { blobVersionedHash } from "../../src/base/crypto/kzg/blob.ts";
import { bigintToFixedBytes, concatBytes } from "../../src/base/primitives/bytes.ts";
import { hashToBytes } from "../../src/base/primitives/hash.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import { precompileInputs } from "../../test/support/evm/machine/precompiles/inputs.ts";
import fc from "../../test/support/fast-check.ts";

export type WorstInput = {
  readonly name: string;
  readonly label: string;
  readonly input: Uint8Array;
};

const word = (value: bigint) => bigintToFixedBytes(value, 32);
const element = (value: bigint) => bigintToFixedBytes(value, 64);
/** Dense in any representation. */
const SCALAR = word(0x6b3d_9f27_51ce_8ad4_e95b_73f1_2c68_d7a5_9e34_bd1f_c872_563a_f419_8ed5_a7b3_26c1n);
const DISTINCT = 8;

const multiples = <Point extends { multiply(scalar: bigint): Point }>(base: Point) =>
  Array.from({ length: DISTINCT }, (_, i) => base.multiply(0x9e3779b97f4a7c15n * BigInt(i + 1)));
const blsG1 = multiples(bls12_381.G1.Point.BASE).map((point) => {
  const { x, y } = point.toAffine();
  return concatBytes(element(x), element(y));
});
const blsG2 = multiples(bls12_381.G2.Point.BASE).map((point) => {
  const { x, y } = point.toAffine();
  return concatBytes(element(x.c0), element(x.c1), element(y.c0), element(y.c1));
});
const bnG1 = multiples(bn254.G1.Point.BASE).map((point) => {
  const { x, y } = point.toAffine();
  return concatBytes(word(x), word(y));
});
const bnG2 = multiples(bn254.G2.Point.BASE).map((point) => {
  const { x, y } = point.toAffine();
  return concatBytes(word(x.c1), word(x.c0), word(y.c1), word(y.c0));
});

const terms = (count: number, ...lists: readonly (readonly Uint8Array[])[]) =>
  concatBytes(...Array.from({ length: count }, (_, i) => lists.map((list) => list[i % list.length]!)).flat());

/** All bits set: as many multiplications as the length allows. */
function modexp(length: number, exponentLength: number): Uint8Array {
  const modulus = new Uint8Array(length).fill(0xff);
  modulus[length - 1] = 0xfb;
  return concatBytes(
    ...[length, exponentLength, length].map((each) => word(BigInt(each))),
    new Uint8Array(length).fill(0xfe),
    new Uint8Array(exponentLength).fill(0xff),
    modulus,
  );
}

/** An opening of the polynomial X: its commitment is [τ], its value at z is z, its quotient is 1 and so the proof G₁. */
function opening(): Uint8Array {
  const tau = hexToBytes(
    "0xad3eb50121139aa34db1d545093ac9374ab7bca2c0f3bf28e27c8dcd8fc7cb42d25926fc0c97b336e9f0fb35e5a04c81",
  );
  const generator = hexToBytes(
    "0x97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb",
  );
  const z = word(2n ** 250n + 12_345n);
  return concatBytes(hashToBytes(blobVersionedHash(tau)), z, z, tau, generator);
}

/** A random input of `name` with which the precompile succeeds. */
function valid(name: string, succeeds: (name: string, input: Uint8Array) => boolean): Uint8Array {
  const sample = fc.sample(precompileInputs[name]!, { seed: 7, numRuns: 40 });
  const input = sample.find((each) => succeeds(name, each));
  if (input === undefined) throw new Error(`no valid input of ${name} among 40`);
  return input;
}

export function worstInputs(succeeds: (name: string, input: Uint8Array) => boolean): WorstInput[] {
  const rounds = (count: number) => concatBytes(bigintToFixedBytes(BigInt(count), 4), new Uint8Array(209));
  const filled = (length: number) => new Uint8Array(length).fill(0xa5);
  const rows: [name: string, label: string, input: Uint8Array][] = [
    ["ECREC", "valid", valid("ECREC", succeeds)],
    ...[0, 119, 100_000].map((n): [string, string, Uint8Array] => ["SHA256", `${n} B`, filled(n)]),
    ...[0, 119, 100_000].map((n): [string, string, Uint8Array] => ["RIPEMD160", `${n} B`, filled(n)]),
    ...[0, 100_000].map((n): [string, string, Uint8Array] => ["ID", `${n} B`, filled(n)]),
    ...[
      [1, 1],
      [32, 32],
      [33, 33],
      [64, 64],
      [256, 256],
      [1024, 32],
      [1024, 1024],
    ].map(([length, exponent]): [string, string, Uint8Array] => [
      "MODEXP",
      `${length} B, exponent ${exponent} B`,
      modexp(length!, exponent!),
    ]),
    ["BN254_ADD", "two points", terms(1, bnG1.slice(0, 1), bnG1.slice(1))],
    ["BN254_MUL", "dense scalar", terms(1, bnG1, [SCALAR])],
    ...[1, 4, 32].map((n): [string, string, Uint8Array] => ["BN254_PAIRING", `${n} pairs`, terms(n, bnG1, bnG2)]),
    ["BLAKE2F", "1,000,000 rounds", rounds(1_000_000)],
    ["KZG_POINT_EVALUATION", "valid", opening()],
    ["BLS12_G1ADD", "two points", terms(1, blsG1.slice(0, 1), blsG1.slice(1))],
    ["BLS12_G2ADD", "two points", terms(1, blsG2.slice(0, 1), blsG2.slice(1))],
    ...[1, 2, 8, 32, 128, 512].flatMap((n): [string, string, Uint8Array][] => [
      ["BLS12_G1MSM", `${n} terms`, terms(n, blsG1, [SCALAR])],
      ["BLS12_G2MSM", `${n} terms`, terms(n, blsG2, [SCALAR])],
    ]),
    ...[1, 4, 32].map((n): [string, string, Uint8Array] => [
      "BLS12_PAIRING_CHECK",
      `${n} pairs`,
      terms(n, blsG1, blsG2),
    ]),
    ["BLS12_MAP_FP_TO_G1", "element", valid("BLS12_MAP_FP_TO_G1", succeeds)],
    ["BLS12_MAP_FP2_TO_G2", "element", valid("BLS12_MAP_FP2_TO_G2", succeeds)],
    ["P256VERIFY", "valid", valid("P256VERIFY", succeeds)],
  ];
  return rows.map(([name, label, input]) => ({ name, label, input }));
}
