import { invariant, type NodeError } from "../../base/errors.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { encodePooledTransaction } from "../../base/types/transaction/encode.ts";
import type { BlobTransaction, Transaction } from "../../base/types/transaction/transaction.ts";
import { missingPermission } from "../../evm/execution/validation/account-permissions.ts";
import { checkGasLimit, checkTransaction, reject, TransactionRejectedError } from "./admission.ts";
import { type BlobEntry, BlobPool } from "./blob-pool.ts";
import { BlockOrder, type BlockOrderLimits, type BlockOrderRule } from "./block-order.ts";
import { Entry } from "./entry.ts";
import { JournalWriteError } from "./journal.ts";
import { LegacyPool } from "./legacy-pool.ts";
import type {
  HeadUpdate,
  PoolContent,
  PooledTransaction,
  PoolHead,
  PoolReader,
  RemovalReason,
  Submission,
} from "./pool.ts";
import {
  type AccountRules,
  BLOB_TX_SIZE_MAX,
  MEMPOOL_DEFAULTS,
  type MempoolOptions,
  type PoolRules,
  rulesAt,
  TX_SIZE_MAX,
} from "./pool.ts";
import { checkSidecar, wrapperVersionAt } from "./sidecar.ts";

type PoolListener = (transactions: readonly PooledTransaction[]) => void;
type RemovalListener = (transaction: PooledTransaction, reason: RemovalReason) => void;

type MempoolModules = {
  /** Order of a block's transactions; default: by fees. */
  readonly order?: BlockOrderRule;
  readonly config: ChainConfig;
  /** The initial head of the pool. */
  readonly head: PoolHead;
  /** Milliseconds of any clock. */
  readonly now: () => number;
  /** undefined: no restrictions. */
  readonly permissions?: AccountRules | undefined;
};

/** Stores accepted transactions before they are added to the pool. */
interface PoolStore {
  /** @throws JournalWriteError: the transaction is rejected */
  append(transaction: PooledTransaction): void;
}

const NO_STORE: PoolStore = { append() {} };

/**
 * The transactions waiting to be included, with the rules and texts of geth's pools. All methods are synchronous: when `add` returns, the
 * transaction is pooled and stored, and listeners have been called. It leaves only for a `RemovalReason`.
 */
export class Mempool implements PoolReader {
  readonly #config: ChainConfig;
  readonly #permissions: AccountRules | undefined;
  readonly #legacy: LegacyPool;
  readonly #blobs: BlobPool;
  readonly #order: BlockOrderRule;
  readonly #pendingListeners = new Set<PoolListener>();
  readonly #addedListeners = new Set<PoolListener>();
  readonly #removalListeners = new Set<RemovalListener>();
  /** Inserted since the last `settle`. */
  #added: PooledTransaction[] = [];
  #store: PoolStore = NO_STORE;
  #rules: PoolRules;
  #minimumTip: bigint;
  #arrivals = 0;
  #version = 0;

  constructor(options: Partial<MempoolOptions>, modules: MempoolModules) {
    const settings = { ...MEMPOOL_DEFAULTS, ...options };
    const { blobBytesMax, priceBump } = settings;
    const { now } = modules;
    const onRemoved: RemovalListener = (transaction, reason) => {
      for (const listener of this.#removalListeners) listener(transaction, reason);
    };
    this.#config = modules.config;
    this.#permissions = modules.permissions;
    this.#minimumTip = settings.minimumTip;
    this.#order = modules.order ?? "fees";
    this.#rules = rulesAt(modules.config, modules.head);
    this.#legacy = new LegacyPool(settings, this.#rules, {
      now,
      isReserved: (address) => this.#blobs.owns(address),
      onRemoved,
    });
    this.#blobs = new BlobPool({ bytesMax: blobBytesMax, priceBump }, this.#rules, {
      now,
      isReserved: (address) => this.#legacy.owns(address),
      hasAuthority: (address) => this.#legacy.hasAuthority(address),
      onRemoved,
    });
  }

  /**
   * Adds a transaction to the pool and its store.
   * @throws TransactionRejectedError, JournalWriteError, without any change
   */
  add(submission: Submission): void {
    this.#insert(submission);
    this.#settle();
  }

  /**
   * Adds many transactions; calls listeners once at the end.
   * @returns for each the reason of its rejection, or undefined
   */
  addAll(submissions: readonly Submission[]): readonly (NodeError | undefined)[] {
    const rejections = submissions.map((submission) => this.#tryInsert(submission));
    this.#settle();
    return rejections;
  }

  /**
   * The checks of `add` on a blob transaction before its proofs are verified. A sidecar of version 0 also passes after Osaka: it can be
   * converted.
   * @returns the version that its sidecar must have
   * @throws TransactionRejectedError
   */
  checkBlob(submission: Submission & { readonly tx: BlobTransaction }): 0 | 1 {
    if (this.get(submission.tx.hash)) throw alreadyKnown();
    const wanted = wrapperVersionAt(this.#rules.hardfork);
    const given = submission.sidecar?.wrapperVersion === 0 ? 0 : wanted;
    this.#blobs.check(this.#blobEntry(submission, given));
    return wanted;
  }

  /** The checks of `add` on a set code transaction before its authorities are recovered. @throws TransactionRejectedError */
  checkSetCode(submission: Submission): void {
    if (this.get(submission.tx.hash)) throw alreadyKnown();
    this.#legacy.check(this.#legacyEntry(submission));
  }

  /** Checks that a block can have the gas limit of `tx`. @throws TransactionRejectedError */
  checkGasLimit(tx: Transaction): void {
    checkGasLimit(tx, this.#rules);
  }

  /** Stores every transaction added from now on. */
  setStore(store: PoolStore): void {
    this.#store = store;
  }

  /** Moves to a new head: removes transactions that it includes or makes impossible, and promotes those that it makes executable. */
  onHead({ changed, included, ...head }: HeadUpdate): void {
    this.#rules = rulesAt(this.#config, head);
    const addresses = changed && [...changed];
    const hashes = included && new Set(included);
    const isIncluded = (hash: Hash) => hashes?.has(hash) ?? true;
    this.#legacy.reset(this.#rules, addresses, isIncluded);
    this.#blobs.reset(this.#rules, addresses, isIncluded);
    this.#removeForbidden(addresses);
    this.#settle();
  }

  /** Sets the minimum tip for admission, in wei; raising it removes transactions with lower tips. */
  setMinimumTip(tip: bigint): void {
    const isRaised = tip > this.#minimumTip;
    this.#minimumTip = tip;
    if (!isRaised) return;
    this.#version++;
    const isCheaper = ({ maxPriorityFeePerGas }: Entry) => maxPriorityFeePerGas < tip;
    this.#legacy.removeWhere(isCheaper, "underpriced");
    this.#blobs.removeWhere(isCheaper, "underpriced");
  }

  /**
   * Removes one transaction; pending ones after it are queued, blob transactions after it are removed.
   * @returns false if it is not pooled
   */
  remove(hash: Hash, reason: RemovalReason): boolean {
    const isRemoved = this.#legacy.remove(hash, reason) || this.#blobs.remove(hash, reason);
    if (isRemoved) this.#settle();
    return isRemoved;
  }

  clear(): void {
    this.#version++;
    this.#legacy.removeWhere(() => true, "dropped");
    this.#blobs.removeWhere(() => true, "dropped");
  }

  /** Changes with the pool's content. */
  version(): number {
    return this.#version;
  }

  /** Removes queued transactions whose lifetime has ended; call it about every minute. */
  removeStale(): void {
    this.#version++;
    this.#legacy.removeStale();
    this.#blobs.removeStale();
  }

  /**
   * Calls `listener` once with every transaction that becomes pending, including replacements.
   * @returns unsubscribes
   */
  onPending(listener: PoolListener): () => void {
    this.#pendingListeners.add(listener);
    return () => this.#pendingListeners.delete(listener);
  }

  /**
   * Calls `listener` once with every accepted transaction, pending or queued.
   * @returns unsubscribes
   */
  onAdded(listener: PoolListener): () => void {
    this.#addedListeners.add(listener);
    return () => this.#addedListeners.delete(listener);
  }

  /**
   * Calls `listener` with every removed transaction.
   * @returns unsubscribes
   */
  onRemoved(listener: RemovalListener): () => void {
    this.#removalListeners.add(listener);
    return () => this.#removalListeners.delete(listener);
  }

  /** The current pending transactions in the order in which a block takes them. */
  pendingForBlock(limits: BlockOrderLimits): BlockOrder {
    const order = new BlockOrder(limits, this.#order);
    order.update(this.#pendingLists());
    return order;
  }

  /** Updates an order of `pendingForBlock`. @returns false if it is unusable now */
  updateOrder(order: BlockOrder): boolean {
    return order.update(this.#pendingLists());
  }

  get(hash: Hash): PooledTransaction | undefined {
    return this.#legacy.get(hash) ?? this.#blobs.get(hash);
  }

  nonceOf(address: Address): bigint {
    return (
      this.#legacy.nextNonce(address) ??
      this.#blobs.nextNonce(address) ??
      this.#rules.state.account(address)?.nonce ??
      0n
    );
  }

  content(): PoolContent {
    const pending = new Map<Address, readonly PooledTransaction[]>();
    const queued = new Map<Address, readonly PooledTransaction[]>();
    for (const address of this.#legacy.addresses()) {
      const lists = this.contentFrom(address);
      if (lists.pending.length > 0) pending.set(address, lists.pending);
      if (lists.queued.length > 0) queued.set(address, lists.queued);
    }
    return { pending, queued };
  }

  contentFrom(address: Address) {
    return {
      pending: [...this.#legacy.pendingOf(address)],
      queued: [...this.#legacy.queuedOf(address)],
    };
  }

  /** All pooled transactions: each account's in order of nonce, then blob transactions. */
  *all(): Iterable<PooledTransaction> {
    for (const address of this.#legacy.addresses()) {
      yield* this.#legacy.pendingOf(address);
      yield* this.#legacy.queuedOf(address);
    }
    yield* this.#blobs.all();
  }

  pendingCount(): number {
    return this.#legacy.pendingCount + this.#blobs.count;
  }

  counts() {
    return { pending: this.pendingCount(), queued: this.#legacy.queuedCount };
  }

  /** Memory of all transactions, in bytes; also separately of those with blobs and with a nonce gap. */
  bytes() {
    const blobs = this.#blobs.bytes;
    return { all: this.#legacy.bytes + blobs, blobs, queued: this.#legacy.queuedBytes };
  }

  /** Removes transactions that blocks may no longer include. @param changed undefined: every account */
  #removeForbidden(changed: readonly Address[] | undefined): void {
    const { accountPermissions, state } = this.#rules;
    if (accountPermissions === undefined || changed?.includes(accountPermissions) === false) return;
    const isForbidden = ({ tx, sender }: Entry) =>
      missingPermission(tx, sender, state, { accountPermissions }) !== undefined;
    this.#legacy.removeWhere(isForbidden, "invalid");
    this.#blobs.removeWhere(isForbidden, "invalid");
  }

  #insert(submission: Submission): void {
    if (this.get(submission.tx.hash)) throw alreadyKnown();
    if (isBlobSubmission(submission)) {
      this.#insertBlob(submission);
      return;
    }
    const entry = this.#legacyEntry(submission);
    this.#legacy.insert(entry, this.#append);
    this.#added.push(entry);
  }

  /** @throws TransactionRejectedError if the transaction breaks a stateless rule */
  #legacyEntry(submission: Submission): Entry {
    const { tx } = submission;
    const sender = checkTransaction(submission, this.#rules, {
      minimumTip: this.#minimumTip,
      sizeMax: TX_SIZE_MAX,
      size: tx.raw.length,
      permissions: this.#permissions,
    });
    return new Entry({ tx, sender }, this.#arrivals++);
  }

  #insertBlob(submission: BlobSubmission): void {
    const entry = this.#blobEntry(submission, wrapperVersionAt(this.#rules.hardfork));
    invariant(submission.isVerified, "blob proofs are verified before a transaction is added");
    this.#blobs.insert(entry, this.#append);
    this.#added.push(entry);
  }

  /** @throws TransactionRejectedError if the transaction or the form of its sidecar breaks a rule */
  #blobEntry(submission: BlobSubmission, wrapperVersion: 0 | 1): BlobEntry {
    const { tx, sidecar } = submission;
    const sender = checkTransaction(submission, this.#rules, {
      minimumTip: this.#minimumTip,
      sizeMax: BLOB_TX_SIZE_MAX,
      size: encodePooledTransaction(tx, sidecar).length,
      permissions: this.#permissions,
    });
    checkSidecar(tx, sidecar, wrapperVersion);
    // Of the type of its transaction.
    return new Entry({ tx, sender, sidecar }, this.#arrivals++) as BlobEntry;
  }

  #tryInsert(submission: Submission): NodeError | undefined {
    try {
      this.#insert(submission);
      return undefined;
    } catch (error) {
      if (error instanceof TransactionRejectedError || error instanceof JournalWriteError) {
        return error;
      }
      throw error;
    }
  }

  readonly #append = (entry: PooledTransaction): void => this.#store.append(entry);

  #settle(): void {
    this.#version++;
    const pending = this.#legacy.takePending().concat(this.#blobs.takePending());
    const inserted = this.#added;
    if (inserted.length > 0) this.#added = [];
    if (inserted.length > 0 && this.#addedListeners.size > 0) {
      const added = inserted.filter(({ tx }) => this.get(tx.hash) !== undefined);
      if (added.length > 0) for (const listener of this.#addedListeners) listener(added);
    }
    if (pending.length > 0) for (const listener of this.#pendingListeners) listener(pending);
  }

  *#pendingLists(): Iterable<readonly Entry[]> {
    for (const address of this.#legacy.addresses()) yield this.#legacy.pendingOf(address);
    yield* this.#blobs.accounts();
  }
}

type BlobSubmission = Submission & { readonly tx: BlobTransaction };

function isBlobSubmission(submission: Submission): submission is BlobSubmission {
  return submission.tx.type === 3;
}

function alreadyKnown(): TransactionRejectedError {
  return reject("POOL_ALREADY_KNOWN", "already known");
}
