import { invariant, NodeError } from "../../errors.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { blsWorkspace } from "../bls12-381/bls12-381.ts";
import { G1_SIZE } from "../mcl.ts";
import { blobChallenge, blobPolynomial } from "./blob.ts";
import { borrowPoints, linearCombination, readCompressed, writeCompressed } from "./g1.ts";
import { KZG_FAULT_TEXTS } from "./opening.ts";
import { decodeScalars, SCALAR_ORDER } from "./scalar.ts";
import { readTrustedSetup, type TrustedSetup } from "./trusted-setup-file.ts";

/** A 32-byte word of the blob is not a canonical field element. */
export class InvalidBlobError extends NodeError {
  readonly code = "INVALID_BLOB";
  constructor() {
    super(KZG_FAULT_TEXTS.scalar);
  }
}

/**
 * The KZG commitment of `blob`, 48 bytes (`blob_to_kzg_commitment`). The first call takes a second: it loads the trusted setup.
 * @throws InvalidBlobError
 */
export function blobCommitment(blob: Uint8Array): Uint8Array {
  return commit(polynomialOf(blob));
}

/**
 * The 48-byte proof that `commitment` belongs to `blob` (`compute_blob_kzg_proof`).
 * @throws InvalidBlobError
 */
export function blobProof(blob: Uint8Array, commitment: Uint8Array): Uint8Array {
  const z = blobChallenge(blob, commitment);
  return commit(quotient(polynomialOf(blob), z));
}

/**
 * Coefficients of the polynomial of `blob`.
 * @throws InvalidBlobError
 */
export function polynomialOf(blob: Uint8Array): bigint[] {
  const scalars = decodeScalars(blob);
  if (!scalars) throw new InvalidBlobError();
  return blobPolynomial(scalars);
}

/** (p(X) − p(z)) / (X − z), by Horner's rule from the highest coefficient down. */
function quotient(coefficients: readonly bigint[], z: bigint): bigint[] {
  const result = new Array<bigint>(coefficients.length - 1);
  let carry = 0n;
  for (let i = coefficients.length - 1; i > 0; i--) {
    carry = (coefficients[i]! + carry * z) % SCALAR_ORDER;
    result[i - 1] = carry;
  }
  return result;
}

function commit(coefficients: readonly bigint[]): Uint8Array {
  return borrowPoints(1, (point) => {
    linearCombination(point, monomialPoints(coefficients.length), coefficients);
    return writeCompressed(point);
  });
}

let setup: TrustedSetup | undefined;
let points = 0;
let loaded = 0;

/**
 * A pointer to at least `count` consecutive points [1], [τ], [τ²], … of G1 in mcl's memory, at most 4096. The first call reads the file, 880 KB:
 * only commitments and cell proofs need it. Points are decompressed on demand: all take half a second, and checking proofs needs only 64.
 */
export function monomialPoints(count: number): number {
  setup ??= readTrustedSetup();
  const { g1_monomial: compressed } = setup;
  invariant(count <= compressed.length, `the setup has ${count} powers`);
  if (points === 0) points = blsWorkspace().mcl.reserve(compressed.length * G1_SIZE);
  for (; loaded < count; loaded++) {
    const known = readCompressed(points + loaded * G1_SIZE, hexToBytes(compressed[loaded]!), 0);
    invariant(known, "the trusted setup holds points of the curve");
  }
  return points;
}
