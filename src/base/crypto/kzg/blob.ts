import { bigintToFixedBytes, bytesToBigint, concatBytes } from "../../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../primitives/hash.ts";
import { sha256 } from "../hashes.ts";
import { invertAllModulo, invertModulo, powerModulo } from "../modular.ts";
import { type KzgFault, openingFault } from "./opening.ts";
import {
  bitReversed,
  decodeScalars,
  interpolateAtRoots,
  reduce,
  rootsOfUnity,
  SCALAR_LENGTH,
  SCALAR_ORDER,
} from "./scalar.ts";

/** FIELD_ELEMENTS_PER_BLOB of EIP-4844 */
export const BLOB_SCALARS = 4096;
export const BLOB_LENGTH = BLOB_SCALARS * SCALAR_LENGTH;

const VERSIONED_HASH_VERSION_KZG = 0x01;
const CHALLENGE_DOMAIN = Buffer.from("FSBLOBVERIFY_V1_", "latin1");

/** The hash by which a transaction names the blob of `commitment` (EIP-4844, kzg_to_versioned_hash). */
export function blobVersionedHash(commitment: Uint8Array): Hash {
  const hash = Uint8Array.from(sha256(commitment));
  hash[0] = VERSIONED_HASH_VERSION_KZG;
  return hashFromBytes(hash);
}

/** The fault in `proof` that `commitment` belongs to `blob`; undefined if it is valid. `verify_blob_kzg_proof`. */
export function blobProofFault(blob: Uint8Array, commitment: Uint8Array, proof: Uint8Array): KzgFault | undefined {
  const values = decodeScalars(blob);
  if (!values) return "scalar";
  const z = blobChallenge(blob, commitment);
  const y = evaluateBlob(values, z);
  const [zBytes, yBytes] = [z, y].map((value) => bigintToFixedBytes(value, SCALAR_LENGTH));
  return openingFault(commitment, zBytes!, yBytes!, proof);
}

/** The point at which a blob is opened to prove its commitment: `compute_challenge`. */
export function blobChallenge(blob: Uint8Array, commitment: Uint8Array): bigint {
  const degree = bigintToFixedBytes(BigInt(BLOB_SCALARS), 16);
  return reduce(bytesToBigint(sha256(concatBytes(CHALLENGE_DOMAIN, degree, blob, commitment))));
}

/** Coefficients of the polynomial that takes the blob's scalars as values. */
export function blobPolynomial(scalars: readonly bigint[]): bigint[] {
  return interpolateAtRoots(bitReversed(scalars));
}

/** The roots of unity at which the polynomial takes the blob's scalars, in the blob's order. */
function blobDomain(): readonly bigint[] {
  domain ??= bitReversed(rootsOfUnity(BLOB_SCALARS));
  return domain;
}

let domain: readonly bigint[] | undefined;

/** Value at `z` of the polynomial whose values on the domain are `values` (barycentric formula). */
function evaluateBlob(values: readonly bigint[], z: bigint): bigint {
  const roots = blobDomain();
  const at = roots.indexOf(z);
  if (at !== -1) return values[at]!;
  const inverses = invertAllModulo(
    roots.map((root) => reduce(z - root)),
    SCALAR_ORDER,
  );
  let sum = 0n;
  for (let i = 0; i < values.length; i++) {
    sum += (((values[i]! * roots[i]!) % SCALAR_ORDER) * inverses[i]!) % SCALAR_ORDER;
  }
  const length = BigInt(values.length);
  return reduce(reduce(sum) * reduce((powerModulo(z, length, SCALAR_ORDER) - 1n) * invertModulo(length, SCALAR_ORDER)));
}
