import { bigintToFixedBytes, bytesToBigint } from "../../primitives/bytes.ts";
import { blsWorkspace } from "../bls12-381/bls12-381.ts";
import { sha256 } from "../hashes.ts";
import { G1_SIZE } from "../mcl.ts";
import { BLOB_SCALARS, blobPolynomial } from "./blob.ts";
import { monomialPoints } from "./commit.ts";
import { borrowPoints, linearCombination, readValidated } from "./g1.ts";
import { type KzgFault, pairingsAgree } from "./opening.ts";
import {
  bitReversed,
  evaluateAtRoots,
  interpolateAtRoots,
  reduce,
  reverseBits,
  rootsOfUnity,
  SCALAR_LENGTH,
  SCALAR_ORDER,
} from "./scalar.ts";

/** CELLS_PER_EXT_BLOB of EIP-7594: number of cells of a blob that is extended to twice its length. */
export const CELLS_PER_BLOB = 128;
/** FIELD_ELEMENTS_PER_CELL */
export const CELL_SCALARS = 64;

const EXTENDED_SCALARS = 2 * BLOB_SCALARS;
const CHALLENGE_DOMAIN = Buffer.from("RCKZGCBATCH__V1_", "latin1");

/** A cell with the claim to verify: that it has this `index` in the blob of `commitment`. */
export type CellClaim = {
  readonly commitment: Uint8Array;
  readonly index: number;
  readonly values: readonly bigint[];
  readonly proof: Uint8Array;
};

/**
 * The 128 cells of a blob, 64 values each (`compute_cells`): its polynomial at the 8192nd roots of unity in bit-reversed order, which puts the
 * blob itself first.
 */
export function computeCells(scalars: readonly bigint[]): bigint[][] {
  // The other half are the values of p(ωX), on the roots of unity times ω of order 8192.
  const roots = rootsOfUnity(EXTENDED_SCALARS);
  const shifted = blobPolynomial(scalars).map((c, i) => (c * roots[i]!) % SCALAR_ORDER);
  const values = [...scalars, ...bitReversed(evaluateAtRoots(shifted))];
  return Array.from({ length: CELLS_PER_BLOB }, (_, i) => values.slice(i * CELL_SCALARS, (i + 1) * CELL_SCALARS));
}

/**
 * The fault in any of the claims; undefined if all are valid. `verify_cell_kzg_proof_batch` of EIP-7594's polynomial-commitments-sampling,
 * "universal verification": one pairing equation for a random combination of all claims.
 */
export function cellProofsFault(claims: readonly CellClaim[]): KzgFault | undefined {
  if (claims.length === 0) return undefined;
  const commitments = [...new Set(claims.map(({ commitment }) => commitment))];
  const weights = powers(cellChallenge(commitments, claims), claims.length);
  const { mcl } = blsWorkspace();
  const { module } = mcl;
  // Consecutively: sums of proofs, shifted proofs, commitments and interpolations; then the proofs and the commitments.
  return borrowPoints(4 + claims.length + commitments.length, (points) => {
    const [proofSum, shiftedSum, commitmentSum, interpolationSum] = [0, 1, 2, 3].map((i) => points + i * G1_SIZE) as [
      number,
      number,
      number,
      number,
    ];
    const proofs = points + 4 * G1_SIZE;
    const committed = proofs + claims.length * G1_SIZE;
    for (const [i, { proof }] of claims.entries()) {
      if (!readValidated(proofs + i * G1_SIZE, proof, 0)) return "point";
    }
    for (const [i, commitment] of commitments.entries()) {
      if (!readValidated(committed + i * G1_SIZE, commitment, 0)) return "point";
    }
    linearCombination(proofSum, proofs, weights);
    const shifts = claims.map(({ index }, i) => (weights[i]! * cosetPower(index)) % SCALAR_ORDER);
    linearCombination(shiftedSum, proofs, shifts);
    const commitmentWeights = commitments.map((commitment) =>
      claims.reduce((sum, claim, i) => sum + (claim.commitment === commitment ? weights[i]! : 0n), 0n),
    );
    linearCombination(commitmentSum, committed, commitmentWeights.map(reduce));
    linearCombination(interpolationSum, monomialPoints(CELL_SCALARS), interpolate(claims, weights));
    // Σ wₖ·(C − [Iₖ(τ)] + hₖ⁶⁴·πₖ) against τ⁶⁴ · Σ wₖ·πₖ
    module.mclBnG1_sub(commitmentSum, commitmentSum, interpolationSum);
    module.mclBnG1_add(commitmentSum, commitmentSum, shiftedSum);
    return pairingsAgree(commitmentSum, proofSum, "tau64") ? undefined : "proof";
  });
}

/** Coefficients of Σ wₖ·Iₖ, where Iₖ of degree below 64 takes the values of claim k on its coset. */
function interpolate(claims: readonly CellClaim[], weights: readonly bigint[]): bigint[] {
  const total = new Array<bigint>(CELL_SCALARS).fill(0n);
  const byIndex = new Map<number, bigint[]>();
  for (const [k, { index, values }] of claims.entries()) {
    const sum = byIndex.get(index) ?? new Array<bigint>(CELL_SCALARS).fill(0n);
    byIndex.set(index, sum);
    for (let i = 0; i < CELL_SCALARS; i++) {
      sum[i] = (sum[i]! + weights[k]! * values[i]!) % SCALAR_ORDER;
    }
  }
  const roots = rootsOfUnity(EXTENDED_SCALARS);
  for (const [index, values] of byIndex) {
    const coefficients = interpolateAtRoots(bitReversed(values));
    // From p(hX) to p(X): divides coefficient i by hⁱ.
    const shift = cosetExponent(index);
    for (let i = 0; i < CELL_SCALARS; i++) {
      const inverse = roots[(EXTENDED_SCALARS - ((shift * i) % EXTENDED_SCALARS)) % EXTENDED_SCALARS]!;
      total[i] = (total[i]! + coefficients[i]! * inverse) % SCALAR_ORDER;
    }
  }
  return total;
}

/** Exponent of the 8192nd root of unity h that shifts the 64th roots of unity to the domain of cell `index`. */
function cosetExponent(index: number): number {
  return reverseBits(index, CELLS_PER_BLOB);
}

function cosetPower(index: number): bigint {
  return rootsOfUnity(EXTENDED_SCALARS)[cosetExponent(index) * CELL_SCALARS]!;
}

/** `compute_verify_cell_kzg_proof_batch_challenge`: binds all claims, so that none can be crafted to cancel another. */
function cellChallenge(commitments: readonly Uint8Array[], claims: readonly CellClaim[]): bigint {
  const number = (value: number) => bigintToFixedBytes(BigInt(value), 8);
  const header = [BLOB_SCALARS, CELL_SCALARS, commitments.length, claims.length].map(number);
  const body = claims.flatMap(({ commitment, index, values, proof }) => [
    number(commitments.indexOf(commitment)),
    number(index),
    ...values.map((value) => bigintToFixedBytes(value, SCALAR_LENGTH)),
    proof,
  ]);
  const hash = sha256(Buffer.concat([CHALLENGE_DOMAIN, ...header, ...commitments, ...body]));
  return reduce(bytesToBigint(hash));
}

/** 1, x, x², … */
function powers(x: bigint, count: number): bigint[] {
  const list = [1n];
  while (list.length < count) list.push((list.at(-1)! * x) % SCALAR_ORDER);
  return list;
}
