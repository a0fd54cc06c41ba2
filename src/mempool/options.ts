/** Limits of the pool; the defaults are geth's. */
export type MempoolOptions = {
  /** Least tip a transaction must offer, in wei. */
  readonly minimumTip: bigint;
  /** By how many percent both fees of a replacement must exceed the old ones. */
  readonly priceBump: number;
  /** Pending transactions an account may always keep. */
  readonly accountSlots: number;
  /** Pending transactions in all, before accounts above `accountSlots` are cut. Also, in slots of 32 KiB, a part of the pool's size. */
  readonly globalSlots: number;
  /** Queued transactions an account may keep. */
  readonly accountQueue: number;
  /** Queued transactions in all. */
  readonly globalQueue: number;
  /** How long the queued transactions of an account stay without anything happening to it. */
  readonly lifetimeMs: number;
  /** Bytes of blob transactions, sidecars included: they are kept in memory, so this is far below geth's 2.5 GiB on disk. */
  readonly blobBytesMax: number;
};

export const MEMPOOL_DEFAULTS: MempoolOptions = {
  minimumTip: 1n,
  priceBump: 10,
  accountSlots: 16,
  globalSlots: 5_120,
  accountQueue: 64,
  globalQueue: 1_024,
  lifetimeMs: 3 * 3_600_000,
  blobBytesMax: 256 * 1_048_576,
};

/** What one transaction may measure: a legacy, access list, fee market or set code transaction, in bytes of its encoding. */
export const TX_SIZE_MAX = 131_072;
/** The same for a blob transaction with its sidecar. */
export const BLOB_TX_SIZE_MAX = 1_048_576;
/** Bytes of encoding that take one slot of the pool. */
export const SLOT_SIZE = 32_768;
/** Blob transactions an account may keep: they are never queued, so it is also how far its nonces may run ahead. */
export const BLOB_ACCOUNT_SLOTS = 16;
/** Percentage as `priceBump`, for blob transactions: replacing one costs the network far more. */
export const BLOB_PRICE_BUMP = 100;
/** How long a blob transaction with a nonce gap waits for the gap to close, and how many may wait. */
export const BLOB_GAP_LIFETIME_MS = 60_000;
export const BLOB_GAPPED_MAX = 128;
