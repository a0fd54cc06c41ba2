import { invariant } from "../errors.ts";
import { TX_GAS_LIMIT_MAX } from "../params/gas.ts";
import { isAtLeast } from "../params/hardforks.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../state/account.ts";
import { checkFunds, checkNonce } from "./admission.ts";
import { AuthorityCounts } from "./authority-counts.ts";
import type { Entry } from "./entry.ts";
import { planPendingCuts, planQueueCuts, slotsOf } from "./limits.ts";
import { NonceList } from "./nonce-list.ts";
import type { MempoolOptions } from "./options.ts";
import { PriceOrder } from "./price-order.ts";
import { reject } from "./rejection.ts";
import type { PoolRules } from "./rules.ts";

/** What one account has in the pool. It exists as long as one of its lists holds something. */
type AccountSlots = {
  /** Executable one after the other, nonces without gap from the account's own. */
  readonly pending: NonceList;
  /** The rest: behind a gap, or not payable for now. */
  readonly queued: NonceList;
  /** Behind the last pending nonce; at least the account's nonce at the head. */
  nextNonce: bigint;
  /** When something last happened to the account, in milliseconds. */
  heartbeat: number;
};

export type LegacyPoolModules = {
  /** Milliseconds of any clock. */
  readonly now: () => number;
  /** Accounts that have blob transactions pooled: an account is in one pool at a time. */
  readonly isReserved: (address: Address) => boolean;
};

/**
 * Every pooled transaction without blobs, by the rules of geth's legacy pool: `pending` is executable at the head, `queued` waits.
 * Changes are made in two steps: `insert` and the removals, then `settle`, which promotes, enforces the limits and tells what
 * became pending. In between nothing is promised.
 */
export class LegacyPool {
  readonly #options: MempoolOptions;
  readonly #now: () => number;
  readonly #isReserved: (address: Address) => boolean;
  readonly #accounts = new Map<Address, AccountSlots>();
  readonly #entries = new Map<Hash, Entry>();
  readonly #authorities = new AuthorityCounts();
  readonly #priceOrder = new PriceOrder(this.#entries);
  /** Accounts whose queue may have become executable since the last `settle`. */
  readonly #touched = new Set<Address>();
  /** Accounts that had more than their slots pending when last promoted: the only ones that can be cut. */
  readonly #large = new Set<Address>();
  /** Became pending since the last `settle`. */
  #announced: Entry[] = [];
  #rules: PoolRules;
  #slots = 0;
  #pendingCount = 0;
  #queuedCount = 0;
  /** Pending transactions that left for better ones since the last `settle`. */
  #dropped = 0;

  constructor(options: MempoolOptions, rules: PoolRules, modules: LegacyPoolModules) {
    this.#options = options;
    this.#rules = rules;
    this.#now = modules.now;
    this.#isReserved = modules.isReserved;
    this.#priceOrder.setBaseFee(rules.nextBaseFee);
  }

  get pendingCount(): number {
    return this.#pendingCount;
  }

  get queuedCount(): number {
    return this.#queuedCount;
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

  /** The account's nonce behind its pending transactions; undefined when nothing of it is pooled. */
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
   * Takes `entry`, whose own checks have passed, at the cost of others if need be.
   * @throws TransactionRejectedError
   */
  insert(entry: Entry): void {
    const { sender, tx } = entry;
    this.#checkState(entry);
    this.#makeRoom(entry);
    const account = this.#accounts.get(sender) ?? this.#openAccount(sender);
    const isPending = account.pending.get(tx.nonce) !== undefined;
    const list = isPending ? account.pending : account.queued;
    if (isPending || list.size === 0) account.heartbeat = this.#now();
    const { added, replaced } = list.add(entry, this.#options.priceBump);
    if (!added) {
      this.#closeIfEmpty(sender, account);
      throw reject("POOL_REPLACEMENT_UNDERPRICED", "replacement transaction underpriced");
    }
    this.#register(entry);
    if (replaced) this.#forget(replaced);
    if (isPending) {
      this.#announced.push(entry);
      return;
    }
    if (!replaced) this.#queuedCount++;
    this.#touched.add(sender);
  }

  /** Promotes what has become executable, then enforces the limits. Returns what became pending, in order of nonce by account. */
  settle(): readonly Entry[] {
    for (const address of this.#touched) this.#promote(address);
    this.#touched.clear();
    this.#truncatePending();
    this.#truncateQueue();
    this.#dropped = 0;
    const announced = this.#announced.filter((entry) => this.#isPending(entry));
    this.#announced = [];
    return announced;
  }

  /**
   * Moves to a new head: what it includes or makes impossible leaves, what it makes executable is promoted at the next `settle`.
   * @param changed accounts that may differ from before; undefined: all
   */
  reset(rules: PoolRules, changed: Iterable<Address> | undefined): void {
    if (isAtLeast(rules.hardfork, "osaka") && !isAtLeast(this.#rules.hardfork, "osaka")) {
      this.removeWhere(({ tx }) => tx.gasLimit > TX_GAS_LIMIT_MAX);
    }
    const isStricter =
      rules.hardfork !== this.#rules.hardfork ||
      rules.header.gasLimit < this.#rules.header.gasLimit;
    this.#rules = rules;
    const addresses = changed && !isStricter ? changed : this.#accounts.keys();
    for (const address of [...addresses]) this.#resetAccount(address);
    this.#priceOrder.setBaseFee(rules.nextBaseFee);
  }

  /** Removes every transaction for which `isUnwanted`, from whichever list. */
  removeWhere(isUnwanted: (entry: Entry) => boolean): void {
    for (const entry of [...this.#entries.values()].filter(isUnwanted)) this.#remove(entry);
  }

  /** Removes the queued transactions of accounts to which nothing has happened for the pool's lifetime. */
  removeStale(): void {
    const oldest = this.#now() - this.#options.lifetimeMs;
    for (const [address, account] of [...this.#accounts]) {
      if (account.heartbeat < oldest) this.#truncateQueued(address, account, 0);
    }
  }

  /** Nonce, funds and the rules of delegated accounts, on the state at the head. */
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
    const isDelegated = state !== undefined && state.codeHash !== EMPTY_CODE_HASH;
    if (isDelegated || this.#authorities.has(sender)) this.#checkDelegated(entry, account, nonce);
    for (const authority of entry.authorities) {
      const other = this.#accounts.get(authority);
      const count = other ? other.pending.size + other.queued.size : 0;
      if (count > 1 || this.#isReserved(authority)) {
        throw reject("POOL_AUTHORITY_RESERVED", "authority already reserved");
      }
    }
    if (!account && this.#isReserved(sender)) {
      throw reject("POOL_ADDRESS_RESERVED", "address already reserved");
    }
  }

  /** A delegated account (EIP-7702) can be emptied by anyone at any time, so only one transaction of it is in flight. */
  #checkDelegated({ tx }: Entry, account: AccountSlots | undefined, stateNonce: bigint): void {
    if (!account || account.pending.size === 0) {
      if (tx.nonce === (account?.nextNonce ?? stateNonce)) return;
      throw reject("POOL_DELEGATED_NONCE_GAP", "gapped-nonce tx from delegated accounts");
    }
    if (account.pending.get(tx.nonce)) return;
    throw reject(
      "POOL_DELEGATED_ACCOUNT_LIMIT",
      "in-flight transaction limit reached for delegated accounts",
    );
  }

  /** Frees the slots that `entry` needs; only what pays less leaves. */
  #makeRoom(entry: Entry): void {
    const { globalSlots, globalQueue } = this.#options;
    const missing = this.#slots + slotsOf(entry) - globalSlots - globalQueue;
    if (missing <= 0) return;
    if (this.#priceOrder.isUnderpriced(entry)) {
      throw reject("POOL_UNDERPRICED", "transaction underpriced");
    }
    if (this.#dropped > Math.floor(globalSlots / 4)) throw reject("POOL_FULL", "txpool is full");
    const victims = this.#priceOrder.takeCheapest(missing);
    if (!victims) throw reject("POOL_FULL", "txpool is full");
    if (this.#isGapped(entry) && victims.some((victim) => this.#isPending(victim))) {
      this.#priceOrder.putBack(victims);
      throw reject("POOL_FUTURE_REPLACES_PENDING", "future transaction tries to replace pending");
    }
    for (const victim of victims) this.#dropped += this.#remove(victim);
  }

  /** True when pending and queued transactions do not reach up to the nonce of `entry`. */
  #isGapped({ sender, tx }: Entry): boolean {
    const account = this.#accounts.get(sender);
    let nonce = account?.nextNonce ?? this.#stateNonce(sender);
    while (nonce < tx.nonce && account?.queued.get(nonce)) nonce++;
    return nonce < tx.nonce;
  }

  #isPending(entry: Entry): boolean {
    return this.#accounts.get(entry.sender)?.pending.get(entry.tx.nonce) === entry;
  }

  #resetAccount(address: Address): void {
    const account = this.#accounts.get(address);
    if (!account) return;
    const { pending, queued } = account;
    const { state, header } = this.#rules;
    const { nonce, balance } = state.account(address) ?? { nonce: 0n, balance: 0n };
    const before = pending.size;
    for (const entry of pending.removeBelow(nonce)) this.#forget(entry);
    const unpayable = pending.removeUnpayable(balance, header.gasLimit);
    for (const entry of unpayable) this.#forget(entry);
    const gap = unpayable[0]?.tx.nonce ?? nonce;
    // What stands behind a removed nonce, or behind a gap that a changed chain opened, waits in the queue.
    const first = pending.first();
    const isDetached = first !== undefined && first.tx.nonce !== nonce;
    const postponed = isDetached
      ? pending.truncate(0)
      : unpayable[0]
        ? pending.removeFrom(gap)
        : [];
    this.#pendingCount += pending.size - before;
    for (const entry of postponed) this.#enqueue(account, entry);
    const last = pending.last();
    account.nextNonce = last ? last.tx.nonce + 1n : nonce;
    if (queued.size > 0) this.#touched.add(address);
    this.#closeIfEmpty(address, account);
  }

  /** Moves to pending what follows its last nonce, after dropping what can no longer be executed. */
  #promote(address: Address): void {
    const account = this.#accounts.get(address);
    if (!account || account.queued.size === 0) return;
    const { pending, queued } = account;
    const { state, header } = this.#rules;
    const { nonce, balance } = state.account(address) ?? { nonce: 0n, balance: 0n };
    const before = queued.size;
    for (const entry of queued.removeBelow(nonce)) this.#forget(entry);
    for (const entry of queued.removeUnpayable(balance, header.gasLimit)) this.#forget(entry);
    const pendingBefore = pending.size;
    for (const entry of queued.removeReady(account.nextNonce)) {
      const { added, replaced } = pending.add(entry, this.#options.priceBump);
      if (!added) {
        this.#forget(entry);
        continue;
      }
      if (replaced) this.#forget(replaced);
      if (account.nextNonce <= entry.tx.nonce) account.nextNonce = entry.tx.nonce + 1n;
      account.heartbeat = this.#now();
      this.#announced.push(entry);
    }
    this.#pendingCount += pending.size - pendingBefore;
    if (pending.size > this.#options.accountSlots) this.#large.add(address);
    for (const entry of queued.truncate(this.#options.accountQueue)) this.#forget(entry);
    this.#queuedCount += queued.size - before;
    this.#closeIfEmpty(address, account);
  }

  #truncatePending(): void {
    const { globalSlots, accountSlots } = this.#options;
    const excess = this.#pendingCount - globalSlots;
    if (excess <= 0) return;
    const sizes: [Address, number][] = [];
    for (const address of this.#large) {
      const size = this.#accounts.get(address)?.pending.size ?? 0;
      if (size > accountSlots) sizes.push([address, size]);
      else this.#large.delete(address);
    }
    for (const [address, size] of planPendingCuts(sizes, excess, accountSlots)) {
      const account = this.#accounts.get(address)!;
      const cut = account.pending.truncate(size);
      for (const entry of cut) this.#forget(entry);
      this.#pendingCount -= cut.length;
      this.#lowerNextNonce(account, cut[0]);
      this.#closeIfEmpty(address, account);
    }
  }

  #truncateQueue(): void {
    if (this.#queuedCount <= this.#options.globalQueue) return;
    const sizes = [];
    for (const [address, { queued, heartbeat }] of this.#accounts) {
      if (queued.size > 0) sizes.push({ address, size: queued.size, heartbeat });
    }
    for (const [address, size] of planQueueCuts(sizes, this.#options.globalQueue)) {
      this.#truncateQueued(address, this.#accounts.get(address)!, size);
    }
  }

  #truncateQueued(address: Address, account: AccountSlots, size: number): void {
    const cut = account.queued.truncate(size);
    for (const entry of cut) this.#forget(entry);
    this.#queuedCount -= cut.length;
    this.#closeIfEmpty(address, account);
  }

  /**
   * Takes one transaction out; pending ones behind it go back to the queue.
   * @returns how many pending transactions this cost
   */
  #remove(entry: Entry): number {
    const { sender, tx } = entry;
    const account = this.#accounts.get(sender);
    invariant(account, "a pooled transaction belongs to an account of the pool");
    this.#forget(entry);
    let cost = 0;
    if (account.pending.remove(entry)) {
      const postponed = account.pending.removeFrom(tx.nonce);
      cost = 1 + postponed.length;
      this.#pendingCount -= cost;
      for (const later of postponed) this.#enqueue(account, later);
      this.#lowerNextNonce(account, entry);
    } else {
      invariant(account.queued.remove(entry), "a transaction is pending or queued");
      this.#queuedCount--;
    }
    this.#closeIfEmpty(sender, account);
    return cost;
  }

  /** Puts a transaction that was pending into the queue; one that stands there for its nonce stays if it is as good. */
  #enqueue(account: AccountSlots, entry: Entry): void {
    if (account.queued.size === 0) account.heartbeat = this.#now();
    const { added, replaced } = account.queued.add(entry, this.#options.priceBump);
    if (!added) this.#forget(entry);
    else if (replaced) this.#forget(replaced);
    else this.#queuedCount++;
  }

  #lowerNextNonce(account: AccountSlots, removed: Entry | undefined): void {
    if (removed && removed.tx.nonce < account.nextNonce) account.nextNonce = removed.tx.nonce;
  }

  #register(entry: Entry): void {
    this.#entries.set(entry.tx.hash, entry);
    this.#slots += slotsOf(entry);
    this.#priceOrder.add(entry);
    this.#authorities.add(entry);
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry.tx.hash);
    this.#slots -= slotsOf(entry);
    this.#authorities.remove(entry);
  }

  #openAccount(address: Address): AccountSlots {
    const account = {
      pending: new NonceList(),
      queued: new NonceList(),
      nextNonce: this.#stateNonce(address),
      heartbeat: this.#now(),
    };
    this.#accounts.set(address, account);
    return account;
  }

  #closeIfEmpty(address: Address, { pending, queued }: AccountSlots): void {
    if (pending.size > 0 || queued.size > 0) return;
    this.#accounts.delete(address);
    this.#large.delete(address);
  }

  #stateNonce(address: Address): bigint {
    return this.#rules.state.account(address)?.nonce ?? 0n;
  }
}
