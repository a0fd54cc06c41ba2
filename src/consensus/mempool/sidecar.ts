import { blobVersionedHash } from "../../base/crypto/kzg/blob.ts";
import { BLOBS_PER_TX_MAX } from "../../base/params/gas.ts";
import { type Hardfork, RULES_AT } from "../../base/params/hardforks.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { BlobSidecar, BlobTransaction } from "../../base/types/transaction/transaction.ts";
import { reject, type TransactionRejectedError } from "./admission.ts";

/** Cell proofs of one blob (EIP-7594). */
const CELL_PROOFS_PER_BLOB = 128;

/** The version of sidecars that the rules of `hardfork` require: 1 (cell proofs) since Osaka. */
export function wrapperVersionAt(hardfork: Hardfork): 0 | 1 {
  return RULES_AT[hardfork].osaka ? 1 : 0;
}

/**
 * Checks that a sidecar belongs to its transaction and has the form of version `wrapperVersion` (EIP-4844, EIP-7594). Does not verify its
 * proofs.
 * @throws TransactionRejectedError
 */
export function checkSidecar(
  tx: BlobTransaction,
  sidecar: BlobSidecar | undefined,
  wrapperVersion: 0 | 1,
): asserts sidecar is BlobSidecar {
  const hashes = tx.blobVersionedHashes;
  if (hashes.length > BLOBS_PER_TX_MAX) {
    throw reject(
      "TX_TYPE_3_TX_BLOB_COUNT_EXCEEDED",
      `transaction blob limit exceeded: blob count ${hashes.length}, limit ${BLOBS_PER_TX_MAX}`,
    );
  }
  if (tx.maxFeePerBlobGas < 1n) {
    throw reject(
      "POOL_GAS_PRICE_BELOW_MINIMUM",
      `transaction gas price below minimum: blob fee cap ${tx.maxFeePerBlobGas}, minimum needed 1`,
    );
  }
  if (!sidecar) throw reject("POOL_MISSING_SIDECAR", "missing sidecar in blob transaction");
  if (hashes.length === 0) throw reject("TX_TYPE_3_TX_ZERO_BLOBS", "blobless blob transaction");
  checkCommitments(hashes, sidecar);
  checkForm(sidecar, wrapperVersion);
}

export function kzgRejection(fault: string): TransactionRejectedError {
  return reject("POOL_KZG_VERIFICATION_FAILED", `KZG verification error: ${fault}`);
}

function checkCommitments(hashes: readonly Hash[], { blobs, commitments }: BlobSidecar): void {
  if (blobs.length !== hashes.length) {
    throw reject(
      "POOL_SIDECAR_MISMATCH",
      `invalid number of ${blobs.length} blobs compared to ${hashes.length} blob hashes`,
    );
  }
  if (commitments.length !== hashes.length) {
    throw reject(
      "POOL_SIDECAR_MISMATCH",
      `invalid number of ${commitments.length} blob commitments compared to ${hashes.length} blob hashes`,
    );
  }
  for (const [index, commitment] of commitments.entries()) {
    const computed = blobVersionedHash(commitment);
    if (computed !== hashes[index]) {
      throw reject(
        "POOL_SIDECAR_MISMATCH",
        `blob ${index}: computed hash ${computed} mismatches transaction one ${hashes[index]}`,
      );
    }
  }
}

function checkForm({ wrapperVersion, blobs, proofs }: BlobSidecar, version: 0 | 1): void {
  if (wrapperVersion !== version) {
    throw reject(
      "POOL_WRONG_SIDECAR_FORMAT",
      `Wrong sidecar format: unexpected sidecar version, want: ${version}, got: ${wrapperVersion}`,
    );
  }
  const expected = blobs.length * (version === 0 ? 1 : CELL_PROOFS_PER_BLOB);
  if (proofs.length !== expected) {
    throw reject(
      "POOL_WRONG_SIDECAR_FORMAT",
      `Wrong sidecar format: invalid number of ${proofs.length} blob proofs expected ${expected}`,
    );
  }
}
