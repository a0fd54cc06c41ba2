import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { StateReader } from "../state/reader.ts";
import type { Header } from "../types/header.ts";
import type { BlobSidecar, Transaction } from "../types/transaction/transaction.ts";

/** A transaction as the pool holds it. */
export type PooledTransaction = {
  readonly tx: Transaction;
  readonly sender: Address;
  readonly sidecar?: BlobSidecar;
};

/** A transaction on its way into the pool. Without `sender` the pool recovers it, in geth's order of checks. */
export type Submission = {
  readonly tx: Transaction;
  readonly sender?: Address;
  readonly sidecar?: BlobSidecar;
  /** The proofs of `sidecar` have been verified. */
  readonly isVerified?: boolean;
};

/** Everything pooled, by sender and then ascending nonce; blob transactions are left out, as in geth. */
export type PoolContent = {
  readonly pending: ReadonlyMap<Address, readonly PooledTransaction[]>;
  readonly queued: ReadonlyMap<Address, readonly PooledTransaction[]>;
};

/** What RPC and block building read from the pool. */
export interface PoolReader {
  get(hash: Hash): PooledTransaction | undefined;
  /** The next nonce of `address` after its pending transactions. */
  nonceOf(address: Address): bigint;
  content(): PoolContent;
  contentFrom(address: Address): {
    readonly pending: readonly PooledTransaction[];
    readonly queued: readonly PooledTransaction[];
  };
  counts(): { readonly pending: number; readonly queued: number };
}

/** Why a transaction left the pool. */
export type RemovalReason =
  /** It is in a block. */
  | "included"
  /** Its nonce was used by another transaction of a block. */
  | "superseded"
  /** A transaction of the same nonce that pays more took its place. */
  | "replaced"
  /** It was queued for the whole lifetime. */
  | "expired"
  /** The pool was full and a transaction that pays more came. */
  | "evicted"
  /** The minimum tip was raised above its tip. */
  | "underpriced"
  /** It can no longer be executed: the balance, the gas limit or a new fork rules it out. */
  | "invalid"
  /** Executing it failed in an unexpected way. */
  | "quarantined"
  /** A caller of a dev chain took it out. */
  | "dropped";

/** The block the pool builds upon. */
export type PoolHead = {
  readonly header: Header;
  /** The state after it; read until the next head comes. */
  readonly state: StateReader;
};

/** A new head and what it means for pooled transactions. */
export type HeadUpdate = PoolHead & {
  /** Accounts that may differ from the head before. Left out: every account may. */
  readonly changed?: Iterable<Address>;
  /** Transactions of the block. Left out: every transaction whose nonce was used counts as included. */
  readonly included?: Iterable<Hash>;
};

/** Candidates for a block, the one that pays most first, each account's in order of nonce. */
export interface BlockOrder {
  /** The best one left. */
  peek(): PooledTransaction | undefined;
  /** Goes on to the account's next transaction. */
  next(): void;
  /** Leaves out the rest of the account. */
  skipAccount(): void;
}
