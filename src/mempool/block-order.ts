import { effectiveTip } from "../types/transaction/fees.ts";
import type { Entry } from "./entry.ts";
import type { PooledTransaction } from "./pool.ts";

/** A binary heap: the item that `isBefore` puts first is at the top. */
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

  /** Takes the top out and puts `item` in; there must be a top. */
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

/** Which of two accounts' next transactions comes first: that with the higher tip, or that which arrived first. */
export const BLOCK_ORDERS = ["fees", "fifo"] as const;
export type BlockOrderRule = (typeof BLOCK_ORDERS)[number];

/** What a transaction must fulfil to be a candidate. */
export type BlockOrderLimits = {
  /** Of the block to be built, in wei; 0 before London. */
  readonly baseFee: bigint;
  /** Least tip per gas in that block, in wei. */
  readonly minimumTip: bigint;
  /** Most gas of one transaction (EIP-7825); undefined before Osaka. */
  readonly txGasLimitMax?: bigint | undefined;
  /** Blob base fee of the block, in wei; undefined leaves blob transactions out. */
  readonly blobBaseFee?: bigint | undefined;
};

/** The transaction an account offers next. */
type Candidate = {
  readonly entries: readonly Entry[];
  readonly index: number;
  readonly entry: Entry;
  readonly tip: bigint;
};

/**
 * Candidates for a block: the transaction with the highest effective tip among the next of each account first, plain
 * before blob transactions and earlier before later arrivals among equals; or earlier before later arrivals alone. An account ends at the first transaction that
 * is no candidate, since those after it could not be executed.
 */
export class BlockOrder {
  readonly #limits: BlockOrderLimits;
  readonly #heap: Heap<Candidate>;

  /** @param accounts executable entries of each account in order of nonce */
  constructor(accounts: Iterable<readonly Entry[]>, limits: BlockOrderLimits, rule: BlockOrderRule = "fees") {
    this.#limits = limits;
    const firsts: Candidate[] = [];
    for (const entries of accounts) {
      const candidate = candidateAt([...entries], 0, limits);
      if (candidate) firsts.push(candidate);
    }
    this.#heap = new Heap<Candidate>(rule === "fifo" ? isEarlier : isBetter, firsts);
  }

  /** The best one left. */
  peek(): PooledTransaction | undefined {
    return this.#heap.peek()?.entry;
  }

  /** Goes on to the account's next transaction. */
  next(): void {
    const current = this.#heap.peek();
    if (!current) return;
    const following = candidateAt(current.entries, current.index + 1, this.#limits);
    if (following) this.#heap.replaceTop(following);
    else this.#heap.pop();
  }

  /** Leaves out the rest of the account. */
  skipAccount(): void {
    this.#heap.pop();
  }
}

function candidateAt(
  entries: readonly Entry[],
  index: number,
  { baseFee, minimumTip, txGasLimitMax, blobBaseFee }: BlockOrderLimits,
): Candidate | undefined {
  const entry = entries[index];
  if (!entry) return undefined;
  const { tx } = entry;
  if (tx.type === 3 && (blobBaseFee === undefined || tx.maxFeePerBlobGas < blobBaseFee)) {
    return undefined;
  }
  if (txGasLimitMax !== undefined && tx.gasLimit > txGasLimitMax) return undefined;
  const tip = effectiveTip(tx, baseFee);
  // A negative tip is a fee cap below the base fee, which no minimum of 0 makes up for.
  if (tip < 0n || tip < minimumTip) return undefined;
  return { entries, index, entry, tip };
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
