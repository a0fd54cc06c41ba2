import type { ChainConfig } from "../params/chain-config.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { encodePooledTransaction } from "../types/transaction/encode.ts";
import type { BlobTransaction } from "../types/transaction/transaction.ts";
import { checkTransaction } from "./admission.ts";
import { type BlobEntry, BlobPool } from "./blob-pool.ts";
import { type BlockOrderLimits, createBlockOrder } from "./block-order.ts";
import { createEntry, type Entry } from "./entry.ts";
import { LegacyPool } from "./legacy-pool.ts";
import { BLOB_TX_SIZE_MAX, MEMPOOL_DEFAULTS, type MempoolOptions, TX_SIZE_MAX } from "./options.ts";
import type {
  BlockOrder,
  HeadUpdate,
  PoolContent,
  PooledTransaction,
  PoolHead,
  PoolReader,
  RemovalReason,
  Submission,
} from "./pool.ts";
import { reject, TransactionRejectedError } from "./rejection.ts";
import { type PoolRules, rulesAt } from "./rules.ts";
import { checkSidecar, type VerifySidecar } from "./sidecar.ts";

/** Told about transactions that have become pending: each once, and again when a better one of its nonce replaces it. */
export type PendingListener = (transactions: readonly PooledTransaction[]) => void;

export type MempoolModules = {
  readonly config: ChainConfig;
  /** The block the pool starts upon. */
  readonly head: PoolHead;
  /** Milliseconds of any clock. */
  readonly now: () => number;
  /** Without it blob transactions are refused: nothing unverified is pooled. */
  readonly verifySidecar?: VerifySidecar;
};

/**
 * The transactions that wait to be included, with the rules, limits and texts of geth's pools. All of it is synchronous: when
 * `add` returns, the transaction stands where it belongs and the listeners have been called.
 */
export class Mempool implements PoolReader {
  readonly #config: ChainConfig;
  readonly #verifySidecar: VerifySidecar | undefined;
  readonly #plain: LegacyPool;
  readonly #blobs: BlobPool;
  readonly #listeners = new Set<PendingListener>();
  readonly #addedListeners = new Set<PendingListener>();
  /** Inserted since the last `settle`. */
  #added: PooledTransaction[] = [];
  #rules: PoolRules;
  #minimumTip: bigint;
  #arrivals = 0;
  #version = 0;

  constructor(options: Partial<MempoolOptions>, modules: MempoolModules) {
    const settings = { ...MEMPOOL_DEFAULTS, ...options };
    const { now } = modules;
    this.#config = modules.config;
    this.#verifySidecar = modules.verifySidecar;
    this.#minimumTip = settings.minimumTip;
    this.#rules = rulesAt(modules.config, modules.head);
    this.#plain = new LegacyPool(settings, this.#rules, {
      now,
      isReserved: (address) => this.#blobs.owns(address),
    });
    this.#blobs = new BlobPool(settings.blobBytesMax, this.#rules, {
      now,
      isReserved: (address) => this.#plain.owns(address),
      hasAuthority: (address) => this.#plain.hasAuthority(address),
    });
  }

  /**
   * Takes a transaction into the pool.
   * @throws TransactionRejectedError
   */
  add(submission: Submission): void {
    this.#insert(submission);
    this.#settle();
  }

  /**
   * Takes many transactions into the pool, promoting once at the end: they may come in any order of nonce.
   * @returns for each whether it was taken: undefined, or why not
   */
  addAll(submissions: readonly Submission[]): readonly (TransactionRejectedError | undefined)[] {
    const answers = submissions.map((submission) => this.#tryInsert(submission));
    this.#settle();
    return answers;
  }

  /** Moves to a new head: drops what it includes or makes impossible, promotes what it makes executable. */
  onHead({ changed, returned, ...head }: HeadUpdate): void {
    this.#rules = rulesAt(this.#config, head);
    const addresses = changed && [...changed];
    this.#plain.reset(this.#rules, addresses);
    this.#blobs.reset(this.#rules, addresses);
    for (const submission of returned ?? []) this.#tryInsert(submission);
    this.#settle();
  }

  /** Sets the least tip for admission, in wei; raised, it removes every transaction that offers less. */
  setMinimumTip(tip: bigint): void {
    const isRaised = tip > this.#minimumTip;
    this.#minimumTip = tip;
    if (!isRaised) return;
    this.#version++;
    const isCheaper = ({ maxPriorityFeePerGas }: Entry) => maxPriorityFeePerGas < tip;
    this.#plain.removeWhere(isCheaper);
    this.#blobs.removeWhere(isCheaper);
  }

  /**
   * Removes one transaction; pending ones after it are queued, blob transactions after it leave.
   * @returns false when it is not pooled
   */
  remove(hash: Hash, _reason: RemovalReason): boolean {
    if (this.get(hash) === undefined) return false;
    const isIt = ({ tx }: Entry) => tx.hash === hash;
    this.#plain.removeWhere(isIt);
    this.#blobs.removeWhere(isIt);
    this.#settle();
    return true;
  }

  /** Another number after every change of what is pooled. */
  version(): number {
    return this.#version;
  }

  /** Removes queued transactions whose lifetime is over; to be called every minute or so. */
  removeStale(): void {
    this.#version++;
    this.#plain.removeStale();
    this.#blobs.removeStale();
  }

  /** Calls `listener` with every transaction that becomes pending from now on. Returns how to stop it. */
  onPending(listener: PendingListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Calls `listener` once with every transaction the pool accepts, pending or queued.
   * @returns the way to stop it
   */
  onAdded(listener: PendingListener): () => void {
    this.#addedListeners.add(listener);
    return () => this.#addedListeners.delete(listener);
  }

  /** The pending transactions in the order a block takes them. Later changes of the pool do not show in it. */
  pendingForBlock(limits: BlockOrderLimits): BlockOrder {
    return createBlockOrder(this.#pendingLists(), limits);
  }

  get(hash: Hash): PooledTransaction | undefined {
    return this.#plain.get(hash) ?? this.#blobs.get(hash);
  }

  nonceOf(address: Address): bigint {
    return (
      this.#plain.nextNonce(address) ??
      this.#blobs.nextNonce(address) ??
      this.#rules.state.account(address)?.nonce ??
      0n
    );
  }

  content(): PoolContent {
    const pending = new Map<Address, readonly PooledTransaction[]>();
    const queued = new Map<Address, readonly PooledTransaction[]>();
    for (const address of this.#plain.addresses()) {
      const lists = this.contentFrom(address);
      if (lists.pending.length > 0) pending.set(address, lists.pending);
      if (lists.queued.length > 0) queued.set(address, lists.queued);
    }
    return { pending, queued };
  }

  contentFrom(address: Address) {
    return {
      pending: [...this.#plain.pendingOf(address)],
      queued: [...this.#plain.queuedOf(address)],
    };
  }

  /** Everything pooled: each account's in order of nonce, then the blob transactions. */
  *all(): Iterable<PooledTransaction> {
    for (const address of this.#plain.addresses()) {
      yield* this.#plain.pendingOf(address);
      yield* this.#plain.queuedOf(address);
    }
    yield* this.#blobs.all();
  }

  counts() {
    return {
      pending: this.#plain.pendingCount + this.#blobs.count,
      queued: this.#plain.queuedCount,
    };
  }

  #insert(submission: Submission): void {
    const { tx } = submission;
    if (this.get(tx.hash)) throw reject("POOL_ALREADY_KNOWN", "already known");
    if (tx.type === 3) {
      this.#insertBlob(submission, tx);
      return;
    }
    const sender = checkTransaction(submission, this.#rules, {
      minimumTip: this.#minimumTip,
      sizeMax: TX_SIZE_MAX,
      size: tx.raw.length,
    });
    const entry = createEntry({ tx, sender }, this.#arrivals++);
    this.#plain.insert(entry);
    this.#added.push(entry);
  }

  #insertBlob(submission: Submission, tx: BlobTransaction): void {
    const { sidecar } = submission;
    if (!this.#verifySidecar) {
      throw reject(
        "TX_TYPE_NOT_SUPPORTED",
        `transaction type not supported: received type ${tx.type}`,
      );
    }
    const size = encodePooledTransaction(tx, sidecar).length;
    const sender = checkTransaction(submission, this.#rules, {
      minimumTip: this.#minimumTip,
      sizeMax: BLOB_TX_SIZE_MAX,
      size,
    });
    checkSidecar(tx, sidecar, this.#rules.hardfork, this.#verifySidecar);
    const pooled = { tx, sender, ...(sidecar && { sidecar }) };
    const entry: BlobEntry = { ...createEntry(pooled, this.#arrivals++), tx, size };
    this.#blobs.insert(entry);
    this.#added.push(entry);
  }

  #tryInsert(submission: Submission): TransactionRejectedError | undefined {
    try {
      this.#insert(submission);
      return undefined;
    } catch (error) {
      if (error instanceof TransactionRejectedError) return error;
      throw error;
    }
  }

  #settle(): void {
    this.#version++;
    const announced = [...this.#plain.settle(), ...this.#blobs.settle()];
    const added = this.#added.filter(({ tx }) => this.get(tx.hash) !== undefined);
    this.#added = [];
    if (added.length > 0) for (const listener of this.#addedListeners) listener(added);
    if (announced.length === 0) return;
    for (const listener of this.#listeners) listener(announced);
  }

  *#pendingLists(): Iterable<readonly Entry[]> {
    for (const address of this.#plain.addresses()) yield this.#plain.pendingOf(address);
    yield* this.#blobs.accounts();
  }
}
