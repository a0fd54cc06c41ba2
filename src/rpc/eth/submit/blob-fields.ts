import type { ChainReader } from "../../../chain/reader.ts";
import { BLOB_LENGTH, blobVersionedHash } from "../../../crypto/kzg/blob.ts";
import { CELLS_PER_BLOB } from "../../../crypto/kzg/cells.ts";
import { sidecarFault } from "../../../crypto/kzg/sidecar.ts";
import { hardforkAt } from "../../../params/hardfork-at.ts";
import { isAtLeast } from "../../../params/hardforks.ts";
import type { BlobSidecar } from "../../../types/transaction/transaction.ts";
import { InvalidParamsError, TransactionFieldsError } from "../../dispatch/errors.ts";
import type { CallRequest } from "../../params/call-request.ts";
import type { BlobProver } from "../../ports/execution.ts";

type BlobModules = { readonly chain: ChainReader; readonly blobProver: BlobProver };

/**
 * What belongs to the blobs in `request`: commitments, proofs and versioned hashes, computed where they are missing and checked
 * where they are given. Without blobs the request is as it was.
 *
 * @throws TransactionFieldsError with geth's texts
 */
export async function withBlobFields(
  request: CallRequest,
  { chain, blobProver }: BlobModules,
): Promise<{ readonly request: CallRequest; readonly sidecar?: BlobSidecar }> {
  const { blobs, commitments, proofs, blobVersionedHashes } = request;
  if (blobs === undefined) return { request };
  if (blobs.some(({ length }) => length !== BLOB_LENGTH)) {
    throw new InvalidParamsError(`a blob has ${BLOB_LENGTH} bytes`, "request");
  }
  if (proofs && !commitments) refuse("blob proofs provided while commitments were not");
  if (commitments && !proofs) refuse("blob commitments provided while proofs were not");
  const count = blobs.length;
  assertCount("hashes", blobVersionedHashes, count);
  assertCount("commitments", commitments, count);
  const wrapperVersion = isOsaka(chain) ? 1 : 0;
  const proofCount = wrapperVersion === 1 ? count * CELLS_PER_BLOB : count;
  // Proofs of the form before Osaka are no use after it: they are made anew.
  const isOutdated = wrapperVersion === 1 && proofs?.length === count && count > 0;
  if (proofs && !isOutdated && proofs.length !== proofCount) {
    refuse(`number of blobs and proofs mismatch (have=${proofs.length}, want=${proofCount})`);
  }
  const isGiven = commitments && proofs && !isOutdated;
  const proven = isGiven ? { commitments, proofs } : await blobProver.prove(blobs, wrapperVersion);
  const sidecar: BlobSidecar = { wrapperVersion, blobs, ...proven };
  const hashes = sidecar.commitments.map(blobVersionedHash);
  blobVersionedHashes?.forEach((hash, i) => {
    if (hash !== hashes[i]) {
      refuse(`blob hash verification failed (have=${hash}, want=${hashes[i]})`);
    }
  });
  const fault = isGiven && sidecarFault(hashes, sidecar);
  if (fault) {
    refuse(`failed to verify blob proof: ${fault.kind === "kzg" ? fault.fault : fault.kind}`);
  }
  return { request: { ...request, blobVersionedHashes: hashes }, sidecar };
}

function assertCount(what: string, given: readonly unknown[] | undefined, want: number): void {
  if (given && given.length !== want) {
    refuse(`number of blobs and ${what} mismatch (have=${given.length}, want=${want})`);
  }
}

/** The form of proofs follows the fork of the head, as in geth. */
function isOsaka({ config, head }: ChainReader): boolean {
  return isAtLeast(hardforkAt(config, head().block.header), "osaka");
}

function refuse(message: string): never {
  throw new TransactionFieldsError(message);
}
