import { invariant } from "../../base/errors.ts";
import { txGasLimitMaxOf } from "../../base/params/execution-limits.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import { checkFunds, checkNonce, reject } from "./admission.ts";
import { type Entry, satisfiesPriceBump } from "./entry.ts";
import { AuthorityCounts, type ListTotals, NonceList } from "./nonce-list.ts";
import type { MempoolOptions, PoolRules, RemovalReason } from "./pool.ts";
import { TailOrder } from "./tail-order.ts";

/** One account's pooled transactions. Exists while one of its lists is not empty. */
type AccountLists = {
  /** Executable in sequence: nonces without a gap from the account's own. */
  readonly pending: NonceList;
  /** Transactions after a nonce gap. */
  readonly queued: NonceList;
  /** The nonce after the last pending one; at least the account's nonce at the head. */
  nextNonce: bigint;
  /** Time of the account's last activity, in milliseconds. */
  heartbeat: number;
};

type LegacyPoolModules = {
  /** Milliseconds of any clock. */
  readonly now: () => number;
  /** Accounts with pooled blob transactions: an account is in one pool at a time. */
  readonly isReserved: (address: Address) => boolean;
  /** Called with each removed transaction. */
  readonly onRemoved: (entry: Entry, reason: RemovalReason) => void;
};

/**
 * All pooled transactions without blobs, by the rules of geth's legacy pool: `pending` is executable at the head, `queued` waits for a nonce.
 * The limits differ from geth's: they count bytes and are enforced on admission, so that an accepted transaction leaves only for a reason that
 * its sender can know (`RemovalReason`).
 */
export class LegacyPool {
  readonly #options: MempoolOptions;
  readonly #modules: LegacyPoolModules;
  readonly #accounts = new Map<Address, AccountLists>();
  readonly #entries = new Map<Hash, Entry>();
  readonly #authorities = new AuthorityCounts();
  readonly #pendingTotals: ListTotals = { count: 0, bytes: 0 };
  readonly #queuedTotals: ListTotals = { count: 0, bytes: 0 };
  readonly #tails: TailOrder;
  readonly #queuedTails: TailOrder;
  /** Transactions that became pending since the last `takePending`. */
  #announced: Entry[] = [];
  #rules: PoolRules;

  constructor(options: MempoolOptions, rules: PoolRules, modules: LegacyPoolModules) {
    this.#options = options;
    this.#rules = rules;
    this.#modules = modules;
    const addresses = () => this.#accounts.keys();
    this.#tails = new TailOrder(
      {
        addresses,
        tailOf: (address, skipped) => this.#tailOf(address, skipped),
        count: () => this.#entries.size,
      },
      options.priceBump,
    );
    this.#queuedTails = new TailOrder(
      {
        addresses,
        tailOf: (address, skipped) => this.queuedOf(address).at(-1 - skipped),
        count: () => this.#queuedTotals.count,
      },
      options.priceBump,
    );
    this.#setBaseFee(rules.nextBaseFee);
  }

  get pendingCount(): number {
    return this.#pendingTotals.count;
  }

  get queuedCount(): number {
    return this.#queuedTotals.count;
  }

  /** Memory of all transactions. */
  get bytes(): number {
    return this.#pendingTotals.bytes + this.#queuedTotals.bytes;
  }

  get queuedBytes(): number {
    return this.#queuedTotals.bytes;
  }

  get(hash: Hash): Entry | undefined {
    return this.#entries.get(hash);
  }

  owns(address: Address): boolean {
    return this.#accounts.has(address);
  }

  hasAuthority(address: Address): boolean {
    return this.#authorities.has(address);
  }

  /** The account's nonce after its pending transactions; undefined if none is pooled. */
  nextNonce(address: Address): bigint | undefined {
    return this.#accounts.get(address)?.nextNonce;
  }

  pendingOf(address: Address): readonly Entry[] {
    return this.#accounts.get(address)?.pending.entries ?? [];
  }

  queuedOf(address: Address): readonly Entry[] {
    return this.#accounts.get(address)?.queued.entries ?? [];
  }

  addresses(): Iterable<Address> {
    return this.#accounts.keys();
  }

  /**
   * Inserts `entry`, which has passed the stateless checks, and promotes transactions that become executable. Evicts others if the pool is full
   * and `entry` pays enough more.
   * @param store called after the last possible rejection and before any change; if it throws, nothing changes
   * @throws TransactionRejectedError
   */
  insert(entry: Entry, store: (entry: Entry) => void): void {
    const { known, nextNonce, victims } = this.#admit(entry);
    this.#checkAuthorities(entry);
    store(entry);
    for (const victim of victims) this.#remove(victim, "evicted");
    this.#add(entry, known ?? this.#openAccount(entry.sender, nextNonce));
  }

  /** The checks of `insert` except those of authorities, which must be recovered. @throws TransactionRejectedError */
  check(entry: Entry): void {
    this.#admit(entry);
  }

  /** Transactions that became pending since the last call, in order of nonce by account. */
  takePending(): readonly Entry[] {
    if (this.#announced.length === 0) return NONE;
    const announced = this.#announced.filter((entry) => this.#isPending(entry));
    this.#announced = [];
    return announced;
  }

  /**
   * Moves to a new head: what it includes or makes impossible leaves, what it makes executable is promoted.
   * @param changed accounts that may differ from before; undefined: all
   * @param included whether the transaction of a used nonce is in the block
   */
  reset(rules: PoolRules, changed: Iterable<Address> | undefined, included: (hash: Hash) => boolean): void {
    const capBefore = txGasLimitMaxOf(this.#rules.hardfork, this.#rules);
    const isNewFork = rules.hardfork !== this.#rules.hardfork;
    const { gasLimit } = rules.header;
    const isGasLower = gasLimit < this.#rules.header.gasLimit;
    this.#rules = rules;
    const cap = txGasLimitMaxOf(rules.hardfork, rules);
    if (cap !== undefined && capBefore === undefined) {
      this.removeWhere(({ tx }) => tx.gasLimit > cap, "invalid");
    }
    const addresses = new Set(changed !== undefined && !isNewFork ? changed : this.#accounts.keys());
    // A gas limit may fall for hundreds of blocks: of the others only those are looked at that it may rule out.
    if (isGasLower) for (const address of this.#addressesAbove(gasLimit)) addresses.add(address);
    for (const address of addresses) if (this.#accounts.has(address)) this.#resetAccount(address, included);
    this.#setBaseFee(rules.nextBaseFee);
  }

  *#addressesAbove(gasLimit: bigint): Iterable<Address> {
    for (const [address, { pending, queued }] of this.#accounts) {
      if (pending.mayExceed(gasLimit) || queued.mayExceed(gasLimit)) yield address;
    }
  }

  /** Removes every transaction for which `isUnwanted`, from either list. */
  removeWhere(isUnwanted: (entry: Entry) => boolean, reason: RemovalReason): void {
    for (const entry of [...this.#entries.values()].filter(isUnwanted)) this.#remove(entry, reason);
    this.#invalidateTails();
  }

  /** Removes one transaction; pending ones after it are queued. False if it is not pooled. */
  remove(hash: Hash, reason: RemovalReason): boolean {
    const entry = this.#entries.get(hash);
    if (entry === undefined) return false;
    this.#remove(entry, reason);
    this.#invalidateTails();
    return true;
  }

  /** Removes the queued transactions of accounts that were inactive for the pool's lifetime. */
  removeStale(): void {
    const oldest = this.#modules.now() - this.#options.lifetimeMs;
    for (const [address, account] of [...this.#accounts]) {
      if (account.heartbeat >= oldest) continue;
      for (const entry of account.queued.removeFrom(0n)) this.#forget(entry, "expired");
      this.#closeIfEmpty(address, account);
    }
    this.#invalidateTails();
  }

  /** The effect of adding `entry` to the pool. */
  #admit(entry: Entry) {
    const { sender, tx } = entry;
    this.#checkState(entry);
    const known = this.#accounts.get(sender);
    const old = known?.pending.get(tx.nonce) ?? known?.queued.get(tx.nonce);
    if (old && !satisfiesPriceBump(entry, old, this.#options.priceBump)) {
      throw reject("POOL_REPLACEMENT_UNDERPRICED", "replacement transaction underpriced");
    }
    const nextNonce = known?.nextNonce ?? this.#stateNonce(sender);
    const isGapped = tx.nonce > nextNonce;
    if (!old) this.#checkAccountLimit(known, isGapped);
    return { known, nextNonce, victims: this.#findVictims(entry, isGapped, old?.bytes ?? 0) };
  }

  /** Checks nonce, funds and the rules of delegated accounts, on the state at the head. */
  #checkState(entry: Entry): void {
    const { tx, sender, cost } = entry;
    const state = this.#rules.state.account(sender);
    const nonce = state?.nonce ?? 0n;
    const account = this.#accounts.get(sender);
    checkNonce(tx, nonce);
    checkFunds(cost, {
      balance: state?.balance ?? 0n,
      spent: account?.pending.totalCost ?? 0n,
      replacedCost: account?.pending.get(tx.nonce)?.cost,
    });
    const hasCode = state !== undefined && state.codeHash !== EMPTY_CODE_HASH;
    const isDelegated = hasCode || this.#authorities.has(sender);
    if (isDelegated && !this.#rules.devRules) this.#checkDelegated(entry, account, nonce);
    if (!account && this.#modules.isReserved(sender)) {
      throw reject("POOL_ADDRESS_RESERVED", "address already reserved");
    }
  }

  /** Checked last, later than in geth: a transaction that is rejected for another reason must not cost hundreds of signature recoveries. */
  #checkAuthorities({ authorities }: Entry): void {
    for (const authority of authorities) {
      const other = this.#accounts.get(authority);
      const count = other ? other.pending.size + other.queued.size : 0;
      const isLimited = count > 1 && !this.#rules.devRules;
      if (isLimited || this.#modules.isReserved(authority)) {
        throw reject("POOL_AUTHORITY_RESERVED", "authority already reserved");
      }
    }
  }

  /** Anyone can empty a delegated account (EIP-7702) at any time, so only one of its transactions may be in flight. */
  #checkDelegated({ tx }: Entry, account: AccountLists | undefined, stateNonce: bigint): void {
    if (!account || account.pending.size === 0) {
      if (tx.nonce === (account?.nextNonce ?? stateNonce)) return;
      throw reject("POOL_DELEGATED_NONCE_GAP", "gapped-nonce tx from delegated accounts");
    }
    if (account.pending.get(tx.nonce)) return;
    throw reject("POOL_DELEGATED_ACCOUNT_LIMIT", "in-flight transaction limit reached for delegated accounts");
  }

  #checkAccountLimit(account: AccountLists | undefined, isGapped: boolean): void {
    const { accountSlots, accountQueue } = this.#options;
    const size = (isGapped ? account?.queued.size : account?.pending.size) ?? 0;
    if (size < (isGapped ? accountQueue : accountSlots)) return;
    throw reject("POOL_ACCOUNT_LIMIT_EXCEEDED", `account limit exceeded: pooled ${size} txs`);
  }

  /**
   * The transactions to evict so that `entry` fits. A transaction with a nonce gap cannot be executed yet, so it evicts only others with one.
   * @param replacedBytes freed by the transaction with the same nonce
   */
  #findVictims(entry: Entry, isGapped: boolean, replacedBytes: number): readonly Entry[] {
    const { bytesMax, queuedBytesMax } = this.#options;
    const added = entry.bytes - replacedBytes;
    const missing = this.bytes + added - bytesMax;
    const missingQueued = isGapped ? this.queuedBytes + added - queuedBytesMax : 0;
    if (missing <= 0 && missingQueued <= 0) return [];
    const order = isGapped ? this.#queuedTails : this.#tails;
    const eviction = order.findVictims(entry, Math.max(missing, missingQueued));
    if (eviction.victims !== undefined) return eviction.victims;
    if (eviction.reason === "underpriced") {
      throw reject("POOL_UNDERPRICED", "transaction underpriced");
    }
    if (isGapped && missingQueued <= 0 && this.#queuedTotals.count === 0) {
      throw reject("POOL_FUTURE_REPLACES_PENDING", "future transaction tries to replace pending");
    }
    throw reject("POOL_FULL", "txpool is full");
  }

  #add(entry: Entry, account: AccountLists): void {
    const { nonce } = entry.tx;
    const isPending = account.pending.get(nonce) !== undefined;
    // The common case goes straight to its list; promotion handles a nonce that was queued too.
    const isNext = nonce === account.nextNonce && account.queued.size === 0;
    const list = isPending || isNext ? account.pending : account.queued;
    if (list === account.pending || list.size === 0) account.heartbeat = this.#modules.now();
    const { added, replaced } = list.add(entry, this.#options.priceBump);
    invariant(added, "a replacement that was checked satisfies the price bump");
    this.#entries.set(entry.tx.hash, entry);
    this.#authorities.add(entry);
    if (replaced) this.#forget(replaced, "replaced");
    if (isNext) account.nextNonce = nonce + 1n;
    if (list === account.pending) this.#announced.push(entry);
    else this.#promote(entry.sender, account);
    this.#tails.add(entry);
    if (list === account.queued) this.#queuedTails.add(entry);
  }

  #isPending(entry: Entry): boolean {
    return this.#accounts.get(entry.sender)?.pending.get(entry.tx.nonce) === entry;
  }

  #tailOf(address: Address, skipped: number): Entry | undefined {
    const account = this.#accounts.get(address);
    if (account === undefined) return undefined;
    const { pending, queued } = account;
    return skipped < queued.size
      ? queued.entries[queued.size - 1 - skipped]
      : pending.entries[pending.size - 1 - (skipped - queued.size)];
  }

  #resetAccount(address: Address, included: (hash: Hash) => boolean): void {
    const account = this.#accounts.get(address);
    if (!account) return;
    const { pending, queued } = account;
    const { state, header } = this.#rules;
    const { nonce, balance } = state.account(address) ?? { nonce: 0n, balance: 0n };
    for (const list of [pending, queued]) {
      for (const entry of list.removeBelow(nonce)) this.#forgetUsed(entry, included);
    }
    const unpayable = pending.removeUnpayable(balance, header.gasLimit);
    for (const entry of unpayable) this.#forget(entry, "invalid");
    // Queues the transactions after a removed nonce, or after a gap that a changed chain opened.
    const first = pending.first();
    const isDetached = first !== undefined && first.tx.nonce !== nonce;
    const gap = isDetached ? nonce : unpayable[0]?.tx.nonce;
    if (gap !== undefined) {
      for (const entry of pending.removeFrom(gap)) this.#enqueue(account, entry);
    }
    const last = pending.last();
    account.nextNonce = last ? last.tx.nonce + 1n : nonce;
    if (queued.size > 0) this.#promote(address, account);
    this.#closeIfEmpty(address, account);
  }

  /** Promotes the transactions that follow the last pending nonce, after removing those that can no longer be executed. */
  #promote(address: Address, account: AccountLists): void {
    const { pending, queued } = account;
    const { state, header } = this.#rules;
    const { balance } = state.account(address) ?? { balance: 0n };
    for (const entry of queued.removeUnpayable(balance, header.gasLimit)) {
      this.#forget(entry, "invalid");
    }
    for (const entry of queued.removeReady(account.nextNonce)) {
      const { added, replaced } = pending.add(entry, this.#options.priceBump);
      if (!added) {
        this.#forget(entry, "replaced");
        continue;
      }
      if (replaced) this.#forget(replaced, "replaced");
      if (account.nextNonce <= entry.tx.nonce) account.nextNonce = entry.tx.nonce + 1n;
      account.heartbeat = this.#modules.now();
      this.#announced.push(entry);
    }
    this.#closeIfEmpty(address, account);
  }

  /** Removes one transaction from its list; pending ones after it are queued. */
  #remove(entry: Entry, reason: RemovalReason): void {
    const { sender, tx } = entry;
    const account = this.#accounts.get(sender);
    invariant(account, "a pooled transaction belongs to an account of the pool");
    this.#forget(entry, reason);
    if (account.pending.remove(entry)) {
      for (const later of account.pending.removeFrom(tx.nonce)) this.#enqueue(account, later);
      if (tx.nonce < account.nextNonce) account.nextNonce = tx.nonce;
    } else {
      invariant(account.queued.remove(entry), "a transaction is pending or queued");
    }
    this.#closeIfEmpty(sender, account);
  }

  /** Queues a pending transaction; a queued one with its nonce stays if it pays as much. */
  #enqueue(account: AccountLists, entry: Entry): void {
    if (account.queued.size === 0) account.heartbeat = this.#modules.now();
    const { added, replaced } = account.queued.add(entry, this.#options.priceBump);
    if (!added) this.#forget(entry, "replaced");
    else if (replaced) this.#forget(replaced, "replaced");
  }

  #forget(entry: Entry, reason: RemovalReason): void {
    this.#entries.delete(entry.tx.hash);
    this.#authorities.remove(entry);
    this.#modules.onRemoved(entry, reason);
  }

  #forgetUsed(entry: Entry, included: (hash: Hash) => boolean): void {
    this.#forget(entry, included(entry.tx.hash) ? "included" : "superseded");
  }

  #setBaseFee(baseFee: bigint | undefined): void {
    this.#tails.setBaseFee(baseFee);
    this.#queuedTails.setBaseFee(baseFee);
  }

  #invalidateTails(): void {
    this.#tails.invalidate();
    this.#queuedTails.invalidate();
  }

  #openAccount(address: Address, nextNonce: bigint): AccountLists {
    const account = {
      pending: new NonceList(this.#pendingTotals),
      queued: new NonceList(this.#queuedTotals),
      nextNonce,
      // Set with the first entry.
      heartbeat: 0,
    };
    this.#accounts.set(address, account);
    return account;
  }

  #closeIfEmpty(address: Address, { pending, queued }: AccountLists): void {
    if (pending.size === 0 && queued.size === 0) this.#accounts.delete(address);
  }

  #stateNonce(address: Address): bigint {
    return this.#rules.state.account(address)?.nonce ?? 0n;
  }
}

const NONE: readonly Entry[] = [];
