import { BLOB_LENGTH, blobVersionedHash } from "../../../base/crypto/kzg/blob.ts";
import { CELLS_PER_BLOB } from "../../../base/crypto/kzg/cells.ts";
import { COMPRESSED_LENGTH } from "../../../base/crypto/kzg/g1.ts";
import { BLOBS_PER_TX_MAX } from "../../../base/params/gas.ts";
import { hardforkAt, RULES_AT } from "../../../base/params/hardforks.ts";
import type { BlobSidecar } from "../../../base/types/transaction/transaction.ts";
import type { CallArguments } from "../../../evm/execution/call/call-arguments.ts";
import { InvalidParamsError, TransactionFieldsError } from "../../transport/errors.ts";
import type { ServingPorts } from "../rpc-ports.ts";

/**
 * What belongs to the blobs in `request`: commitments, proofs and versioned hashes, computed where they are missing and checked
 * where they are given. Without blobs the request is as it was.
 *
 * @throws TransactionFieldsError with geth's texts
 */
export async function withBlobFields(
  request: CallArguments,
  { chain, tools }: ServingPorts,
): Promise<{ readonly request: CallArguments; readonly sidecar?: BlobSidecar }> {
  const { blobs, commitments, proofs, blobVersionedHashes } = request;
  if (blobs === undefined) return { request };
  // First: what follows takes time and memory for each of them.
  if (blobs.length > BLOBS_PER_TX_MAX) {
    reject(`too many blobs in transaction (have=${blobs.length}, max=${BLOBS_PER_TX_MAX})`);
  }
  if (blobs.some(({ length }) => length !== BLOB_LENGTH)) {
    throw new InvalidParamsError(`a blob has ${BLOB_LENGTH} bytes`, "request");
  }
  if (proofs && !commitments) reject("blob proofs provided while commitments were not");
  if (commitments && !proofs) reject("blob commitments provided while proofs were not");
  const count = blobs.length;
  assertCount("hashes", blobVersionedHashes, count);
  assertCount("commitments", commitments, count);
  const wrapperVersion = (await isOsaka(chain)) ? 1 : 0;
  const proofCount = wrapperVersion === 1 ? count * CELLS_PER_BLOB : count;
  // Proofs of the form before Osaka are useless after it, so they are recomputed.
  const isOutdated = wrapperVersion === 1 && proofs?.length === count && count > 0;
  if (proofs && !isOutdated && proofs.length !== proofCount) {
    reject(`number of blobs and proofs mismatch (have=${proofs.length}, want=${proofCount})`);
  }
  if ([...(commitments ?? []), ...(proofs ?? [])].some(isNoPoint)) {
    reject("failed to verify blob proof: length");
  }
  const isGiven = commitments && proofs && !isOutdated;
  const proven = isGiven ? { commitments, proofs } : await tools.proveBlobs({ blobs, wrapperVersion });
  const sidecar: BlobSidecar = { wrapperVersion, blobs, ...proven };
  const hashes = sidecar.commitments.map(blobVersionedHash);
  blobVersionedHashes?.forEach((hash, i) => {
    if (hash !== hashes[i]) {
      reject(`blob hash verification failed (have=${hash}, want=${hashes[i]})`);
    }
  });
  const fault = isGiven && (await tools.verifyBlobs(sidecar));
  if (fault) reject(`failed to verify blob proof: ${fault}`);
  return { request: { ...request, blobVersionedHashes: hashes }, sidecar };
}

/** Commitments and proofs are compressed points of G1. */
function isNoPoint({ length }: Uint8Array): boolean {
  return length !== COMPRESSED_LENGTH;
}

function assertCount(what: string, given: readonly unknown[] | undefined, want: number): void {
  if (given && given.length !== want) {
    reject(`number of blobs and ${what} mismatch (have=${given.length}, want=${want})`);
  }
}

/** The form of proofs follows the fork of the head, as in geth. */
async function isOsaka(chain: ServingPorts["chain"]): Promise<boolean> {
  return RULES_AT[hardforkAt(chain.config, (await chain.head()).header)].osaka;
}

function reject(message: string): never {
  throw new TransactionFieldsError(message);
}
