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

export const MEMPOOL_DEFAULTS: MempoolOptions = {
  minimumTip: 1n,
  priceBump: 10,
  accountSlots: 1_024,
  accountQueue: 1_024,
  bytesMax: 128 * 1_048_576,
  queuedBytesMax: 32 * 1_048_576,
  lifetimeMs: 3 * 3_600_000,
  blobBytesMax: 128 * 1_048_576,
};

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
