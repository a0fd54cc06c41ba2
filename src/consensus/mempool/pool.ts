import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { ExecutionLimits } from "../../base/params/execution-limits.ts";
import { nextBaseFee } from "../../base/params/fees.ts";
import { type Hardfork, hardforkAt, isBlockForkActive } from "../../base/params/hardforks.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Header } from "../../base/types/header.ts";
import type { BlobSidecar, Transaction } from "../../base/types/transaction/transaction.ts";
import type { StateReader } from "../../evm/state/reader.ts";

/** Limits of the pool. */
export type MempoolOptions = {
  /** Minimum tip of a transaction, in wei. */
  readonly minimumTip: bigint;
  /** Percent by which a transaction must pay more than one that it replaces or evicts. */
  readonly priceBump: number;
  /** Maximum pending transactions of an account. */
  readonly accountSlots: number;
  /** Maximum queued transactions of an account. */
  readonly accountQueue: number;
  /** Memory of all transactions without blobs, in bytes. */
  readonly bytesMax: number;
  /** Part of it for queued transactions, which cannot be executed yet and must not fill the pool. */
  readonly queuedBytesMax: number;
  /** Time after which an inactive account's queued transactions are removed. */
  readonly lifetimeMs: number;
  /** Memory of blob transactions with their sidecars, in bytes. geth stores them on disk and takes 2.5 GiB. */
  readonly blobBytesMax: number;
};

/** Queued transactions (after a nonce gap): spam of them costs nothing, so they must leave room for executable ones. */
export const QUEUE_LIMITS = {
  /** Share of the pool's memory that queued transactions may use. */
  sharePercent: 25,
  /** Time after which an inactive account loses its queued transactions; as in geth. */
  lifetimeMs: 3 * 3_600_000,
} as const;

export const MEMPOOL_DEFAULTS: MempoolOptions = {
  /** geth's admission: a tip of 1 wei, a tenth more for a replacement. */
  minimumTip: 1n,
  priceBump: 10,
  /** Enough for a service that sends from one account and runs a few minutes ahead of the blocks. */
  accountSlots: 1_024,
  accountQueue: 1_024,
  /** About 80,000 transfers; with the blobs 256 MiB in total, a quarter of the smallest machine worth running a node on. */
  bytesMax: 128 * 2 ** 20,
  queuedBytesMax: (128 * 2 ** 20 * QUEUE_LIMITS.sharePercent) / 100,
  lifetimeMs: QUEUE_LIMITS.lifetimeMs,
  /** About 900 blobs with their proofs, the blocks of twenty minutes. */
  blobBytesMax: 128 * 2 ** 20,
};

/** Blob work that may wait for its thread. */
export const BLOB_QUEUE_LIMITS = {
  /**
   * Transactions whose proofs wait for verification. Each holds up to 1 MiB and takes about 0.3 s, so the last is done within an HTTP
   * client's timeout.
   */
  verificationsMax: 32,
  /** Requests that wait for proofs to be computed. Each takes up to 20 s; callers give up on longer waits. */
  proofsMax: 4,
} as const;

/** Maximum encoded size of a legacy, access list, fee market or set code transaction, in bytes. */
export const TX_SIZE_MAX = 131_072;
/** Maximum size of a blob transaction with its sidecar. */
export const BLOB_TX_SIZE_MAX = 1_048_576;
/** Maximum blob transactions of one account: they are never queued, so its nonces may run ahead no further. */
export const BLOB_ACCOUNT_SLOTS = 16;
/** `priceBump` for blob transactions: replacing one costs the network far more. */
export const BLOB_PRICE_BUMP = 100;
/** Maximum wait of a blob transaction with a nonce gap, and the number that may wait. */
export const BLOB_GAP_LIFETIME_MS = 60_000;
export const BLOB_GAPPED_MAX = 128;

export type PooledTransaction = {
  readonly tx: Transaction;
  readonly sender: Address;
  readonly sidecar?: BlobSidecar;
};

/** Which accounts' transactions this node accepts. */
export interface AccountRules {
  maySend(sender: Address): boolean;
  /** Whether it may create contracts by transactions without a recipient. */
  mayDeploy(sender: Address): boolean;
}

/** A submitted transaction. Without `sender` the pool recovers it, in geth's order of checks. */
export type Submission = {
  readonly tx: Transaction;
  readonly sender?: Address;
  readonly sidecar?: BlobSidecar;
  /** Whether the proofs of `sidecar` were verified. */
  readonly isVerified?: boolean;
};

/** The pool's content by sender and ascending nonce; without blob transactions, as in geth. */
export type PoolContent = {
  readonly pending: ReadonlyMap<Address, readonly PooledTransaction[]>;
  readonly queued: ReadonlyMap<Address, readonly PooledTransaction[]>;
};

/** The pool's interface for RPC and block building. */
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
  /** A better-paying transaction with the same nonce replaced it. */
  | "replaced"
  /** It was queued for the whole lifetime. */
  | "expired"
  /** The pool was full when a better-paying transaction arrived. */
  | "evicted"
  /** The minimum tip was raised above its tip. */
  | "underpriced"
  /** It can no longer be executed: the balance, the gas limit, a new fork or the permissions of its sender rule it out. */
  | "invalid"
  /** Executing it failed in an unexpected way. */
  | "quarantined"
  /** The operator emptied the pool, or a caller of a dev chain took it out. */
  | "dropped";

/** The block on which the pool builds. */
export type PoolHead = {
  readonly header: Header;
  /** The state after it; read until the next head arrives. */
  readonly state: StateReader;
};

/** A new head and its effect on pooled transactions. */
export type HeadUpdate = PoolHead & {
  /** Accounts that may differ from the previous head. Absent: all. */
  readonly changed?: Iterable<Address>;
  /** Transactions of the block. Absent: every transaction with a used nonce counts as included. */
  readonly included?: Iterable<Hash>;
};

/** The rules at the head: those of the head block, as in geth, except for the base fee, which is the next block's. */
export type PoolRules = PoolHead & {
  readonly hardfork: Hardfork;
  readonly chainId: bigint;
  /** undefined before London */
  readonly nextBaseFee: bigint | undefined;
} & Pick<ChainConfig, "accountPermissions"> &
  ExecutionLimits;

export function rulesAt(config: ChainConfig, { header, state }: PoolHead): PoolRules {
  const isLondonNext = isBlockForkActive(config, "londonBlock", header.number + 1);
  return {
    header,
    state,
    hardfork: hardforkAt(config, header),
    chainId: config.chainId,
    nextBaseFee: isLondonNext ? nextBaseFee(header, config) : undefined,
    ...(config.codeSizeMax !== undefined && { codeSizeMax: config.codeSizeMax }),
    ...(config.noTxGasLimit && { noTxGasLimit: true }),
    ...(config.devRules && { devRules: true }),
    ...(config.accountPermissions !== undefined && { accountPermissions: config.accountPermissions }),
  };
}
