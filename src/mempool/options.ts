/** Limits of the pool. */
export type MempoolOptions = {
  /** Least tip a transaction must offer, in wei. */
  readonly minimumTip: bigint;
  /** By how many percent a transaction must pay more than the one it replaces or evicts. */
  readonly priceBump: number;
  /** Pending transactions an account may have. */
  readonly accountSlots: number;
  /** Queued transactions an account may have. */
  readonly accountQueue: number;
  /** Memory of all transactions without blobs, in bytes. */
  readonly bytesMax: number;
  /** Part of it for queued transactions: they cannot be executed yet, so they must not fill the pool. */
  readonly queuedBytesMax: number;
  /** How long the queued transactions of an account stay without anything happening to it. */
  readonly lifetimeMs: number;
  /** Memory of blob transactions with their sidecars, in bytes. geth stores them on disk and takes 2.5 GiB. */
  readonly blobBytesMax: number;
};

/** Transactions after a nonce gap: as spam they cost their sender nothing and must leave room for what can be executed. */
export const QUEUE_LIMITS = {
  /** Of the pool's memory that they may take. */
  sharePercent: 25,
  /** How long those of an account stay without anything happening to it; geth's. */
  lifetimeMs: 3 * 3_600_000,
} as const;

export const MEMPOOL_DEFAULTS: MempoolOptions = {
  /** geth's admission: a tip of 1 wei, a tenth more for a replacement. */
  minimumTip: 1n,
  priceBump: 10,
  /** A service that sends from one account runs some minutes ahead of the blocks with as many. */
  accountSlots: 1_024,
  accountQueue: 1_024,
  /** Some 80,000 transfers; with the blobs, 256 MiB in all, a quarter of the smallest machine worth running a node on. */
  bytesMax: 128 * 2 ** 20,
  queuedBytesMax: (128 * 2 ** 20 * QUEUE_LIMITS.sharePercent) / 100,
  lifetimeMs: QUEUE_LIMITS.lifetimeMs,
  /** Some 900 blobs with their proofs, the blocks of twenty minutes. */
  blobBytesMax: 128 * 2 ** 20,
};

/** Work on blobs that may wait for its thread. */
export const BLOB_QUEUE_LIMITS = {
  /** Transactions whose proofs are to be verified. Each holds up to 1 MiB and takes some 0.3 s of a thread: the last one waits no longer than an HTTP client does. */
  verificationsMax: 32,
  /** Requests for proofs. Each takes up to 20 s of a thread: what waits longer has been given up by its caller. */
  proofsMax: 4,
} as const;

/** What one transaction may measure: a legacy, access list, fee market or set code transaction, in bytes of its encoding. */
export const TX_SIZE_MAX = 131_072;
/** The same for a blob transaction with its sidecar. */
export const BLOB_TX_SIZE_MAX = 1_048_576;
/** Blob transactions of one account: they are never queued, so this is also how far its nonces may run ahead. */
export const BLOB_ACCOUNT_SLOTS = 16;
/** Percentage as `priceBump`, for blob transactions: replacing one costs the network far more. */
export const BLOB_PRICE_BUMP = 100;
/** How long a blob transaction with a nonce gap waits for the gap to close, and how many may wait. */
export const BLOB_GAP_LIFETIME_MS = 60_000;
export const BLOB_GAPPED_MAX = 128;
