/** Proofs of cells that cost a simulation nothing: a proof is a digest of commitment and blob. What verifying takes is charged. */
import { createHash } from "node:crypto";
import type { CellClaim } from "../../../src/base/crypto/kzg/cells.ts";
import { charge } from "../kernel/charge.ts";

export const CELLS_PER_BLOB = 128;
export const CELL_SCALARS = 64;

/** Milliseconds for a blob: the real arithmetic takes 0.6 s of a processor for six. */
const BLOB_MS = 100;

export function simulatedProof(commitment: Uint8Array): Uint8Array {
  return createHash("sha384").update(commitment).digest();
}

/** The values enter no proof here. */
export function computeCells(): bigint[][] {
  charge(BLOB_MS);
  return Array.from({ length: CELLS_PER_BLOB }, () => []);
}

export function cellProofsFault(claims: readonly CellClaim[]) {
  const proofs = new Map<Uint8Array, Uint8Array>();
  for (const { commitment, proof } of claims) {
    const right = proofs.get(commitment) ?? simulatedProof(commitment);
    proofs.set(commitment, right);
    if (!Buffer.from(right).equals(proof)) return "proof" as const;
  }
  return undefined;
}
