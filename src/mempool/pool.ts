import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { BlobSidecar, Transaction } from "../types/transaction/transaction.ts";

/** A transaction as the pool holds it. */
export type PooledTransaction = {
  readonly tx: Transaction;
  readonly sender: Address;
  readonly sidecar?: BlobSidecar;
};

/** Everything pooled, by sender and then ascending nonce. */
export type PoolContent = {
  readonly pending: ReadonlyMap<Address, readonly PooledTransaction[]>;
  readonly queued: ReadonlyMap<Address, readonly PooledTransaction[]>;
};

/** What RPC and block building read from the pool. */
export interface PoolReader {
  get(hash: Hash): PooledTransaction | undefined;
  /** The next nonce of `address` behind its pending transactions. */
  nonceOf(address: Address): bigint;
  content(): PoolContent;
  contentFrom(address: Address): {
    readonly pending: readonly PooledTransaction[];
    readonly queued: readonly PooledTransaction[];
  };
  counts(): { readonly pending: number; readonly queued: number };
}
