import type { Hash } from "../../primitives/hash.ts";
import { BLOB_LENGTH, blobProofFault, blobVersionedHash } from "./blob.ts";
import { CELLS_PER_BLOB, type CellClaim, cellProofsFault, computeCells } from "./cells.ts";
import { COMPRESSED_LENGTH } from "./g1.ts";
import type { KzgFault } from "./opening.ts";
import { decodeScalars } from "./scalar.ts";

/** Same shape as `BlobSidecar` of types/: version 0 has one proof per blob (EIP-4844), version 1 has 128 cell proofs per blob (EIP-7594). */
export type Sidecar = {
  readonly wrapperVersion: 0 | 1;
  readonly blobs: readonly Uint8Array[];
  readonly commitments: readonly Uint8Array[];
  readonly proofs: readonly Uint8Array[];
};

/** Faults of a sidecar: the number or length of its parts, a hash without matching commitment, or a proof. */
export type SidecarFault =
  | { readonly kind: "length"; readonly what: "blobs" | "commitments" | "proofs" }
  | { readonly kind: "hash"; readonly index: number; readonly computed: Hash }
  | { readonly kind: "kzg"; readonly fault: KzgFault };

/**
 * The fault in the blobs of a transaction that names `versionedHashes`; undefined if they are valid. Hashes are compared before proofs, so that
 * garbage is cheap to reject.
 */
export function sidecarFault(versionedHashes: readonly Hash[], sidecar: Sidecar): SidecarFault | undefined {
  const { wrapperVersion, blobs, commitments, proofs } = sidecar;
  const proofsPerBlob = wrapperVersion === 0 ? 1 : CELLS_PER_BLOB;
  const count = versionedHashes.length;
  if (!areAll(blobs, count, BLOB_LENGTH)) return { kind: "length", what: "blobs" };
  if (!areAll(commitments, count, COMPRESSED_LENGTH)) {
    return { kind: "length", what: "commitments" };
  }
  if (!areAll(proofs, count * proofsPerBlob, COMPRESSED_LENGTH)) {
    return { kind: "length", what: "proofs" };
  }
  for (const [index, commitment] of commitments.entries()) {
    const computed = blobVersionedHash(commitment);
    if (computed !== versionedHashes[index]) return { kind: "hash", index, computed };
  }
  const fault = wrapperVersion === 0 ? blobFault(sidecar) : cellsFault(sidecar);
  return fault && { kind: "kzg", fault };
}

function areAll(items: readonly Uint8Array[], count: number, length: number): boolean {
  return items.length === count && items.every((item) => item.length === length);
}

/** A sidecar as one array, for another thread: sending its hundreds of arrays takes longer than copying their bytes. */
export type PackedSidecar = {
  readonly wrapperVersion: 0 | 1;
  readonly count: number;
  /** Concatenated blobs, commitments and proofs. */
  readonly bytes: Uint8Array<ArrayBuffer>;
};

/** undefined if the number or length of a part is wrong. */
export function packSidecar(sidecar: Sidecar): PackedSidecar | undefined {
  const { wrapperVersion, blobs, commitments, proofs } = sidecar;
  const count = blobs.length;
  const proofCount = wrapperVersion === 0 ? count : count * CELLS_PER_BLOB;
  const isWhole =
    areAll(blobs, count, BLOB_LENGTH) &&
    areAll(commitments, count, COMPRESSED_LENGTH) &&
    areAll(proofs, proofCount, COMPRESSED_LENGTH);
  if (!isWhole) return undefined;
  const bytes = new Uint8Array(count * (BLOB_LENGTH + COMPRESSED_LENGTH) + proofCount * COMPRESSED_LENGTH);
  let at = 0;
  for (const part of [...blobs, ...commitments, ...proofs]) {
    bytes.set(part, at);
    at += part.length;
  }
  return { wrapperVersion, count, bytes };
}

export function unpackSidecar({ wrapperVersion, count, bytes }: PackedSidecar): Sidecar {
  let at = 0;
  const take = (parts: number, length: number) =>
    Array.from({ length: parts }, () => {
      at += length;
      return bytes.subarray(at - length, at);
    });
  return {
    wrapperVersion,
    blobs: take(count, BLOB_LENGTH),
    commitments: take(count, COMPRESSED_LENGTH),
    proofs: take(wrapperVersion === 0 ? count : count * CELLS_PER_BLOB, COMPRESSED_LENGTH),
  };
}

function blobFault({ blobs, commitments, proofs }: Sidecar): KzgFault | undefined {
  for (const [i, blob] of blobs.entries()) {
    const fault = blobProofFault(blob, commitments[i]!, proofs[i]!);
    if (fault) return fault;
  }
  return undefined;
}

function cellsFault({ blobs, commitments, proofs }: Sidecar): KzgFault | undefined {
  const claims: CellClaim[] = [];
  for (const [i, blob] of blobs.entries()) {
    const scalars = decodeScalars(blob);
    if (!scalars) return "scalar";
    for (const [index, values] of computeCells(scalars).entries()) {
      const proof = proofs[i * CELLS_PER_BLOB + index]!;
      claims.push({ commitment: commitments[i]!, index, values, proof });
    }
  }
  return cellProofsFault(claims);
}
