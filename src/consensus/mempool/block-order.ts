import type { Address } from "../../base/primitives/address.ts";
import { effectiveTip } from "../../base/types/transaction/fees.ts";
import type { Entry } from "./entry.ts";
import type { PooledTransaction } from "./pool.ts";

/** A binary heap with the first item by `isBefore` at the top. */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #items: T[];

  /** Takes time proportional to the number of `items`. */
  constructor(isBefore: (a: T, b: T) => boolean, items: Iterable<T> = []) {
    this.#isBefore = isBefore;
    this.#items = [...items];
    for (let i = (this.#items.length >> 1) - 1; i >= 0; i--) this.#sink(i);
  }

  get size(): number {
    return this.#items.length;
  }

  copy(): Heap<T> {
    return new Heap(this.#isBefore, this.#items);
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let index = items.push(item) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(item, items[parent]!)) break;
      items[index] = items[parent]!;
      index = parent;
    }
    items[index] = item;
  }

  pop(): T | undefined {
    const top = this.#items[0];
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) this.replaceTop(last);
    return top;
  }

  /** Replaces the top, which must exist, by `item`. */
  replaceTop(item: T): void {
    this.#items[0] = item;
    this.#sink(0);
  }

  #sink(start: number): void {
    const items = this.#items;
    const item = items[start]!;
    let index = start;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      const right = child + 1;
      if (right < items.length && this.#isBefore(items[right]!, items[child]!)) child = right;
      if (!this.#isBefore(items[child]!, item)) break;
      items[index] = items[child]!;
      index = child;
    }
    items[index] = item;
  }
}

/** Order of two accounts' next transactions: by the higher tip, or by arrival. */
export const BLOCK_ORDERS = ["fees", "fifo"] as const;
export type BlockOrderRule = (typeof BLOCK_ORDERS)[number];

/** Requirements of a candidate. */
export type BlockOrderLimits = {
  /** Base fee of the next block, in wei; 0 before London. */
  readonly baseFee: bigint;
  /** Minimum tip per gas in that block, in wei. */
  readonly minimumTip: bigint;
  /** Maximum gas of one transaction (EIP-7825); undefined before Osaka. */
  readonly txGasLimitMax?: bigint | undefined;
  /** Blob base fee of the block, in wei; undefined excludes blob transactions. */
  readonly blobBaseFee?: bigint | undefined;
};

/** An account from which transactions were taken. */
type Account = {
  /** Its executable transactions in order of nonce, taken ones first. */
  entries: readonly Entry[];
  readonly taken: Entry[];
  /** Number of transactions taken from all accounts up to its last one; 0: none of its own. */
  takenAt: number;
  isClosed: boolean;
};

/** An account's next transaction. */
type Candidate = {
  readonly account: Account;
  readonly index: number;
  readonly entry: Entry;
  readonly tip: bigint;
};

/**
 * Candidates for a block. By default, the transaction with the highest effective tip among each account's next ones comes first; with equal
 * tips, plain before blob transactions, then by arrival. Alternatively only by arrival. An account ends at its first non-candidate, since later
 * transactions could not be executed.
 */
export class BlockOrder {
  readonly #limits: BlockOrderLimits;
  readonly #isBefore: (a: Candidate, b: Candidate) => boolean;
  /** Accounts from which transactions were taken. */
  readonly #accounts = new Map<Address, Account>();
  #count = 0;
  /**
   * Each taken transaction that comes after all later ones in the order, with the number taken up to it: any of them can be the last in order
   * from some point on.
   */
  readonly #last: { readonly candidate: Candidate; readonly at: number }[] = [];
  #heap: Heap<Candidate>;

  /** Empty until `update` is called. */
  constructor(limits: BlockOrderLimits, rule: BlockOrderRule = "fees") {
    this.#limits = limits;
    this.#isBefore = rule === "fifo" ? isEarlier : isBetter;
    this.#heap = new Heap(this.#isBefore);
  }

  /**
   * Adopts the pool's current content, if the transactions already taken would come first again, in the same order. Takes time proportional to
   * the number of accounts, plus a little for each taken transaction.
   * @param accounts executable entries of each account in order of nonce; read until the next update
   * @returns false if others would come earlier: the order is unusable then
   */
  update(accounts: Iterable<readonly Entry[]>): boolean {
    const candidates: Candidate[] = [];
    let known = 0;
    for (const entries of accounts) {
      const [first] = entries;
      if (first === undefined) continue;
      const account = this.#accounts.get(first.sender);
      if (account !== undefined) {
        if (!account.taken.every((entry, i) => entries[i] === entry)) return false;
        known++;
        account.entries = entries;
        if (account.isClosed) continue;
      }
      const next = candidateAt(account ?? newAccount(entries), account?.taken.length ?? 0, this.#limits);
      if (next === undefined) continue;
      const last = this.#lastAfter(next.account.takenAt);
      if (last !== undefined && this.#isBefore(next, last)) return false;
      candidates.push(next);
    }
    this.#heap = new Heap(this.#isBefore, candidates);
    return known === this.#accounts.size;
  }

  /** The best remaining transaction. */
  peek(): PooledTransaction | undefined {
    return this.#heap.peek()?.entry;
  }

  /** The remaining transactions from the best on, without taking them. */
  *ahead(): Generator<PooledTransaction> {
    const heap = this.#heap.copy();
    for (let best = heap.peek(); best; best = heap.peek()) {
      yield best.entry;
      this.#advance(heap, best);
    }
  }

  /** Advances to the account's next transaction. */
  next(): void {
    const current = this.#heap.peek();
    if (!current) return;
    this.#take(current);
    this.#advance(this.#heap, current);
  }

  /** Skips the rest of the account. */
  skipAccount(): void {
    const current = this.#heap.pop();
    if (!current) return;
    this.#take(current);
    current.account.isClosed = true;
  }

  #take(candidate: Candidate): void {
    const { account, entry } = candidate;
    if (account.taken.length === 0) this.#accounts.set(entry.sender, account);
    account.taken.push(entry);
    account.takenAt = ++this.#count;
    const last = this.#last;
    while (last.length > 0 && this.#isBefore(last.at(-1)!.candidate, candidate)) last.pop();
    last.push({ candidate, at: this.#count });
  }

  /** The last in order of those taken after the first `count`. */
  #lastAfter(count: number): Candidate | undefined {
    let low = 0;
    let high = this.#last.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#last[middle]!.at > count) high = middle;
      else low = middle + 1;
    }
    return this.#last[low]?.candidate;
  }

  #advance(heap: Heap<Candidate>, { account, index }: Candidate): void {
    const following = candidateAt(account, index + 1, this.#limits);
    if (following) heap.replaceTop(following);
    else heap.pop();
  }
}

function newAccount(entries: readonly Entry[]): Account {
  return { entries, taken: [], takenAt: 0, isClosed: false };
}

function candidateAt(
  account: Account,
  index: number,
  { baseFee, minimumTip, txGasLimitMax, blobBaseFee }: BlockOrderLimits,
): Candidate | undefined {
  const entry = account.entries[index];
  if (!entry) return undefined;
  const { tx } = entry;
  if (tx.type === 3 && (blobBaseFee === undefined || tx.maxFeePerBlobGas < blobBaseFee)) {
    return undefined;
  }
  if (txGasLimitMax !== undefined && tx.gasLimit > txGasLimitMax) return undefined;
  const tip = effectiveTip(tx, baseFee);
  // A negative tip is a fee cap below the base fee, which a minimum of 0 does not allow.
  if (tip < 0n || tip < minimumTip) return undefined;
  return { account, index, entry, tip };
}

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.tip !== b.tip) return a.tip > b.tip;
  const aIsBlob = a.entry.tx.type === 3;
  const bIsBlob = b.entry.tx.type === 3;
  if (aIsBlob !== bIsBlob) return bIsBlob;
  return isEarlier(a, b);
}

function isEarlier(a: Candidate, b: Candidate): boolean {
  return a.entry.arrival < b.entry.arrival;
}
