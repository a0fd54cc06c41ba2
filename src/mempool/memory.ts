import type { BlobSidecar, Transaction } from "../types/transaction/transaction.ts";

/**
 * Memory of decoded parts, in bytes: heap of a full pool divided by its entries, rounded up (`memory.test.ts` measures them).
 */
const ENTRY_BYTES = 1_536;
const ACCESS_LIST_ADDRESS_BYTES = 256;
const STORAGE_KEY_BYTES = 112;
const AUTHORIZATION_BYTES = 640;
const BLOB_HASH_BYTES = 112;
/** A Uint8Array that is a view. */
const VIEW_BYTES = 128;

/** The memory a pooled transaction takes, in bytes: its encoding, the objects decoded from it and its blobs. */
export function memoryBytesOf(tx: Transaction, sidecar: BlobSidecar | undefined): number {
  let bytes = ENTRY_BYTES + tx.raw.length;
  if (tx.type !== 0) {
    for (const { storageKeys } of tx.accessList) {
      bytes += ACCESS_LIST_ADDRESS_BYTES + STORAGE_KEY_BYTES * storageKeys.length;
    }
  }
  if (tx.type === 4) bytes += AUTHORIZATION_BYTES * tx.authorizationList.length;
  if (tx.type === 3) bytes += BLOB_HASH_BYTES * tx.blobVersionedHashes.length;
  if (sidecar !== undefined) {
    for (const parts of [sidecar.blobs, sidecar.commitments, sidecar.proofs]) {
      for (const part of parts) bytes += VIEW_BYTES + part.length;
    }
  }
  return bytes;
}
