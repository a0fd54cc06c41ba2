import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import type { BlobTransaction } from "../../base/types/transaction/transaction.ts";
import { checkFunds, checkNonce, reject, TransactionRejectedError } from "./admission.ts";
import { bumped, comparePrices, type Entry, paysMoreBy } from "./entry.ts";
import type { PoolRules, RemovalReason } from "./pool.ts";
import { BLOB_ACCOUNT_SLOTS, BLOB_GAP_LIFETIME_MS, BLOB_GAPPED_MAX, BLOB_PRICE_BUMP } from "./pool.ts";

export type BlobEntry = Entry & { readonly tx: BlobTransaction };

type BlobPoolOptions = {
  /** Maximum memory of all transactions with their sidecars. */
  readonly bytesMax: number;
  /** Percent by which a transaction must pay more than one it evicts. */
  readonly priceBump: number;
};

/** A transaction that waits for lower nonces. */
type GappedEntry = { readonly entry: BlobEntry; readonly since: number };

/** The effect of inserting a transaction. */
type BlobAdmission =
  | { readonly kind: "gapped" }
  | {
      readonly kind: "pending";
      /** Its position among the account's transactions */
      readonly index: number;
      /** The transactions that it evicts. */
      readonly victims: readonly BlobEntry[];
    };

type BlobPoolModules = {
  /** Milliseconds of any clock. */
  readonly now: () => number;
  /** Accounts with other pooled transactions: an account is in one pool at a time. */
  readonly isReserved: (address: Address) => boolean;
  /** Accounts whose authorization is in the other pool (EIP-7702). */
  readonly hasAuthority: (address: Address) => boolean;
  /** Called with each removed transaction. */
  readonly onRemoved: (entry: Entry, reason: RemovalReason) => void;
};

/**
 * Pooled blob transactions, by the rules of geth's blob pool: all are pending, an account's nonces have no gaps, and a replacement pays twice
 * the fees. They are in memory with their sidecars.
 */
export class BlobPool {
  readonly #options: BlobPoolOptions;
  readonly #modules: BlobPoolModules;
  /** By account, consecutive nonces from the account's own at the head. */
  readonly #accounts = new Map<Address, BlobEntry[]>();
  readonly #entries = new Map<Hash, BlobEntry>();
  #gapped: GappedEntry[] = [];
  #announced: BlobEntry[] = [];
  #rules: PoolRules;
  #bytes = 0;

  constructor(options: BlobPoolOptions, rules: PoolRules, modules: BlobPoolModules) {
    this.#options = options;
    this.#rules = rules;
    this.#modules = modules;
  }

  /** Memory of all transactions, including those with a nonce gap. */
  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#entries.size;
  }

  get(hash: Hash): BlobEntry | undefined {
    return this.#entries.get(hash) ?? this.#gapped.find(({ entry }) => entry.tx.hash === hash)?.entry;
  }

  owns(address: Address): boolean {
    return this.#accounts.has(address);
  }

  pendingOf(address: Address): readonly BlobEntry[] {
    return this.#accounts.get(address) ?? [];
  }

  accounts(): Iterable<readonly BlobEntry[]> {
    return this.#accounts.values();
  }

  /** All transactions, those with a nonce gap last. */
  *all(): Iterable<BlobEntry> {
    yield* this.#entries.values();
    for (const { entry } of this.#gapped) yield entry;
  }

  /** The account's nonce after its transactions; undefined if none is pooled. */
  nextNonce(address: Address): bigint | undefined {
    const last = this.#accounts.get(address)?.at(-1);
    return last && last.tx.nonce + 1n;
  }

  /**
   * Inserts `entry`, which has passed the stateless checks, and transactions that waited for its nonce.
   * @param store called after the last possible rejection and before any change; if it throws, nothing changes
   * @throws TransactionRejectedError
   */
  insert(entry: BlobEntry, store: (entry: Entry) => void): void {
    const admission = this.check(entry);
    store(entry);
    this.#add(entry, admission);
    this.#retryGapped();
  }

  /**
   * The effect of inserting `entry`, without inserting it.
   * @throws TransactionRejectedError
   */
  check(entry: BlobEntry): BlobAdmission {
    const { sender, tx } = entry;
    const account = this.#rules.state.account(sender);
    const nonce = account?.nonce ?? 0n;
    checkNonce(tx, nonce);
    const pooled = this.#accounts.get(sender) ?? [];
    const gap = nonce + BigInt(pooled.length);
    if (gap < tx.nonce) {
      if (!this.#mayWait(sender, nonce)) {
        throw reject("TX_NONCE_MISMATCH_TOO_HIGH", `nonce too high: tx nonce ${tx.nonce}, gapped nonce ${gap}`);
      }
      if (this.#bytes + entry.bytes > this.#options.bytesMax) {
        throw reject("POOL_FULL", "txpool is full");
      }
      return { kind: "gapped" };
    }
    const index = Number(tx.nonce - nonce);
    const old = pooled[index];
    checkFunds(entry.cost, {
      balance: account?.balance ?? 0n,
      spent: pooled.reduce((sum, { cost }) => sum + cost, 0n),
      replacedCost: old?.cost,
    });
    if (!old && pooled.length >= BLOB_ACCOUNT_SLOTS) {
      throw reject("POOL_ACCOUNT_LIMIT_EXCEEDED", `account limit exceeded: pooled ${pooled.length} txs`);
    }
    const isDelegated = account !== undefined && account.codeHash !== EMPTY_CODE_HASH;
    const isInFlight = pooled.length > 1 || (pooled.length === 1 && !old);
    if (isInFlight && (isDelegated || this.#modules.hasAuthority(sender))) {
      throw reject("POOL_DELEGATED_ACCOUNT_LIMIT", "in-flight transaction limit reached for delegated accounts");
    }
    if (old) checkReplacement(tx, old.tx);
    if (pooled.length === 0 && this.#modules.isReserved(sender)) {
      throw reject("POOL_ADDRESS_RESERVED", "address already reserved");
    }
    return { kind: "pending", index, victims: this.#findVictims(entry, old?.bytes ?? 0) };
  }

  /** The transactions that became pending since the last call. */
  takePending(): readonly BlobEntry[] {
    if (this.#announced.length === 0) return NONE;
    const announced = this.#announced.filter(({ tx }) => this.#entries.has(tx.hash));
    this.#announced = [];
    return announced;
  }

  /**
   * Moves to a new head: what it includes or makes impossible leaves.
   * @param changed accounts that may differ from before; undefined: all
   * @param included whether the transaction of a used nonce is in the block
   */
  reset(rules: PoolRules, changed: Iterable<Address> | undefined, included: (hash: Hash) => boolean): void {
    const isStricter = rules.header.gasLimit < this.#rules.header.gasLimit;
    this.#rules = rules;
    const addresses = changed && !isStricter ? changed : this.#accounts.keys();
    for (const address of [...addresses]) if (this.#accounts.has(address)) this.#resetAccount(address, included);
    this.#retryGapped();
  }

  /** Removes every transaction for which `isUnwanted`, and those after it: blob transactions have no queue. */
  removeWhere(isUnwanted: (entry: Entry) => boolean, reason: RemovalReason): void {
    for (const [address, pooled] of [...this.#accounts]) {
      const index = pooled.findIndex(isUnwanted);
      if (index === -1) continue;
      this.#truncate(address, pooled, index, (entry) => (isUnwanted(entry) ? reason : "invalid"));
    }
    this.#removeGapped(({ entry }) => isUnwanted(entry), reason);
  }

  /** Removes one transaction and those after it. False if it is not pooled. */
  remove(hash: Hash, reason: RemovalReason): boolean {
    if (this.get(hash) === undefined) return false;
    this.removeWhere(({ tx }) => tx.hash === hash, reason);
    return true;
  }

  /** Removes the transactions whose nonce gap did not close in time. */
  removeStale(): void {
    const oldest = this.#modules.now() - BLOB_GAP_LIFETIME_MS;
    this.#removeGapped(({ since }) => since < oldest, "expired");
  }

  #removeGapped(isUnwanted: (gapped: GappedEntry) => boolean, reason: RemovalReason): void {
    const removed = this.#gapped.filter(isUnwanted);
    this.#gapped = this.#gapped.filter((gapped) => !removed.includes(gapped));
    for (const { entry } of removed) {
      this.#bytes -= entry.bytes;
      this.#modules.onRemoved(entry, reason);
    }
  }

  #resetAccount(address: Address, included: (hash: Hash) => boolean): void {
    const pooled = this.#accounts.get(address);
    if (!pooled) return;
    const { nonce, balance } = this.#rules.state.account(address) ?? { nonce: 0n, balance: 0n };
    const start = pooled.findIndex(({ tx }) => tx.nonce === nonce);
    const left = start === -1 ? [] : pooled.slice(start);
    for (const entry of start === -1 ? pooled : pooled.slice(0, start)) {
      this.#forget(entry, usedReason(entry, nonce, included));
    }
    // Removes what the balance no longer covers, the highest nonces first.
    let end = 0;
    for (let spent = 0n; end < left.length; end++) {
      spent += left[end]!.cost;
      if (spent > balance || left[end]!.tx.gasLimit > this.#rules.header.gasLimit) break;
    }
    this.#truncate(address, left, end, () => "invalid");
  }

  #truncate(
    address: Address,
    pooled: readonly BlobEntry[],
    size: number,
    reasonOf: (entry: BlobEntry) => RemovalReason,
  ): void {
    for (const entry of pooled.slice(size)) this.#forget(entry, reasonOf(entry));
    if (size === 0) this.#accounts.delete(address);
    else this.#accounts.set(address, pooled.slice(0, size));
  }

  /** The transactions to evict so that `entry` fits: the cheapest among the last ones of other accounts. */
  #findVictims(entry: BlobEntry, replacedBytes: number): readonly BlobEntry[] {
    const { bytesMax, priceBump } = this.#options;
    const baseFee = this.#rules.nextBaseFee;
    const victims: BlobEntry[] = [];
    const left = new Map([...this.#accounts].filter(([address]) => address !== entry.sender));
    let missing = this.#bytes + entry.bytes - replacedBytes - bytesMax;
    while (missing > 0) {
      let tail: BlobEntry | undefined;
      for (const pooled of left.values()) {
        const last = pooled.at(-1)!;
        if (tail === undefined || comparePrices(last, tail, baseFee) < 0) tail = last;
      }
      if (tail !== undefined && comparePrices(entry, tail, baseFee) <= 0) {
        throw reject("POOL_UNDERPRICED", "transaction underpriced");
      }
      if (tail === undefined || !paysMoreBy(priceBump, entry, tail, baseFee)) {
        throw reject("POOL_FULL", "txpool is full");
      }
      victims.push(tail);
      missing -= tail.bytes;
      const rest = left.get(tail.sender)!.slice(0, -1);
      if (rest.length > 0) left.set(tail.sender, rest);
      else left.delete(tail.sender);
    }
    return victims;
  }

  #add(entry: BlobEntry, admission: BlobAdmission): void {
    const { sender, tx } = entry;
    this.#bytes += entry.bytes;
    if (admission.kind === "gapped") {
      this.#gapped.push({ entry, since: this.#modules.now() });
      return;
    }
    for (const victim of admission.victims) {
      const pooled = this.pendingOf(victim.sender);
      this.#truncate(victim.sender, pooled, pooled.length - 1, () => "evicted");
    }
    const next = [...this.pendingOf(sender)];
    const old = next[admission.index];
    if (old) this.#forget(old, "replaced");
    next[admission.index] = entry;
    this.#accounts.set(sender, next);
    this.#entries.set(tx.hash, entry);
    this.#announced.push(entry);
  }

  #forget(entry: BlobEntry, reason: RemovalReason): void {
    this.#entries.delete(entry.tx.hash);
    this.#bytes -= entry.bytes;
    this.#modules.onRemoved(entry, reason);
  }

  /** An account may have as many waiting transactions as its nonce has digits after the first: only history earns memory. */
  #mayWait(sender: Address, accountNonce: bigint): boolean {
    const waiting = this.#gapped.filter(({ entry }) => entry.sender === sender).length;
    const allowance = (accountNonce + 1n).toString().length - 1 - waiting;
    return allowance >= 1 && this.#gapped.length < BLOB_GAPPED_MAX;
  }

  #retryGapped(): void {
    for (let found = true; found; ) {
      found = false;
      for (const waiting of this.#gapped) {
        const { sender, tx } = waiting.entry;
        const next = this.nextNonce(sender) ?? this.#rules.state.account(sender)?.nonce ?? 0n;
        if (next < tx.nonce) continue;
        this.#gapped = this.#gapped.filter((other) => other !== waiting);
        this.#bytes -= waiting.entry.bytes;
        found = true;
        if (next === tx.nonce) this.#insertGapped(waiting.entry);
        else this.#modules.onRemoved(waiting.entry, "superseded");
        break;
      }
    }
  }

  /** Its submitter already has the hash, so a rejection becomes a removal. */
  #insertGapped(entry: BlobEntry): void {
    try {
      this.#add(entry, this.check(entry));
    } catch (error) {
      if (!(error instanceof TransactionRejectedError)) throw error;
      this.#modules.onRemoved(entry, "invalid");
    }
  }
}

/** Reason for removing an entry after a new head: its nonce was used, or a changed chain opened a gap before it. */
function usedReason({ tx }: BlobEntry, accountNonce: bigint, included: (hash: Hash) => boolean): RemovalReason {
  if (tx.nonce >= accountNonce) return "invalid";
  return included(tx.hash) ? "included" : "superseded";
}

/** All three fees must exceed the old ones by the full price bump. */
function checkReplacement(next: BlobTransaction, old: BlobTransaction): void {
  const fees = [
    ["gas fee cap", next.maxFeePerGas, old.maxFeePerGas],
    ["gas tip cap", next.maxPriorityFeePerGas, old.maxPriorityFeePerGas],
    ["blob gas fee cap", next.maxFeePerBlobGas, old.maxFeePerBlobGas],
  ] as const;
  const refused = (detail: string) =>
    reject("POOL_REPLACEMENT_UNDERPRICED", `replacement transaction underpriced: ${detail}`);
  for (const [name, fee, oldFee] of fees) {
    if (fee <= oldFee) throw refused(`new tx ${name} ${fee} <= ${oldFee} queued`);
  }
  for (const [name, fee, oldFee] of fees) {
    if (fee < bumped(oldFee, BLOB_PRICE_BUMP)) {
      throw refused(`new tx ${name} ${fee} < ${oldFee} queued + ${BLOB_PRICE_BUMP}% replacement penalty`);
    }
  }
}

const NONE: readonly BlobEntry[] = [];
