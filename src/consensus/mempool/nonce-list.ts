import type { Address } from "../../base/primitives/address.ts";
import { type Entry, satisfiesPriceBump } from "./entry.ts";

/** Totals of several lists. */
export type ListTotals = {
  count: number;
  /** Sum of `Entry.bytes`. */
  bytes: number;
};

/** Transactions of one account by ascending nonce, one per nonce, gaps allowed. */
export class NonceList {
  readonly #totals: ListTotals;
  /** Ascending nonce. */
  #entries: Entry[] = [];
  #totalCost = 0n;
  /** Upper bounds of cost and gas: `removeUnpayable` skips most lists unread. */
  #costMax = 0n;
  #gasMax = 0n;

  /** @param totals of all lists of this kind; the list updates its share */
  constructor(totals: ListTotals) {
    this.#totals = totals;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Sum of all costs, in wei. */
  get totalCost(): bigint {
    return this.#totalCost;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  first(): Entry | undefined {
    return this.#entries[0];
  }

  last(): Entry | undefined {
    return this.#entries.at(-1);
  }

  get(nonce: bigint): Entry | undefined {
    const entry = this.#entries[this.#indexOf(nonce)];
    return entry?.tx.nonce === nonce ? entry : undefined;
  }

  /**
   * Inserts `entry`, replacing the one with its nonce if it satisfies the price bump.
   * @returns whether it was inserted, and the entry it replaced
   */
  add(entry: Entry, priceBump: number): { readonly added: boolean; readonly replaced?: Entry } {
    const index = this.#indexOf(entry.tx.nonce);
    const old = this.#entries[index];
    const isReplacement = old?.tx.nonce === entry.tx.nonce;
    if (isReplacement && !satisfiesPriceBump(entry, old, priceBump)) return { added: false };
    if (isReplacement) this.#take(index, 1);
    if (index === this.#entries.length) this.#entries.push(entry);
    else this.#entries.splice(index, 0, entry);
    this.#totalCost += entry.cost;
    this.#totals.count++;
    this.#totals.bytes += entry.bytes;
    if (entry.cost > this.#costMax) this.#costMax = entry.cost;
    if (entry.tx.gasLimit > this.#gasMax) this.#gasMax = entry.tx.gasLimit;
    return isReplacement ? { added: true, replaced: old } : { added: true };
  }

  /** Removes exactly `entry`; false if it is not in the list. */
  remove(entry: Entry): boolean {
    const index = this.#indexOf(entry.tx.nonce);
    if (this.#entries[index] !== entry) return false;
    this.#take(index, 1);
    return true;
  }

  removeBelow(nonce: bigint): readonly Entry[] {
    return this.#take(0, this.#indexOf(nonce));
  }

  removeFrom(nonce: bigint): readonly Entry[] {
    return this.#take(this.#indexOf(nonce), this.#entries.length);
  }

  /** Whether a transaction may have more gas; false means certainly not. */
  mayExceed(gasLimit: bigint): boolean {
    return this.#gasMax > gasLimit;
  }

  removeUnpayable(balance: bigint, gasLimit: bigint): readonly Entry[] {
    if (this.#costMax <= balance && this.#gasMax <= gasLimit) return NONE;
    this.#costMax = balance;
    this.#gasMax = gasLimit;
    const isPayable = ({ cost, tx }: Entry) => cost <= balance && tx.gasLimit <= gasLimit;
    const removed = this.#entries.filter((entry) => !isPayable(entry));
    if (removed.length > 0) this.#entries = this.#entries.filter(isPayable);
    this.#subtract(removed);
    return removed;
  }

  /** Removes and returns the run of consecutive nonces at the front, unless it begins after `nonce`. */
  removeReady(nonce: bigint): readonly Entry[] {
    const first = this.#entries[0];
    if (!first || first.tx.nonce > nonce) return NONE;
    let length = 1;
    while (this.#entries[length]?.tx.nonce === first.tx.nonce + BigInt(length)) length++;
    return this.#take(0, length);
  }

  #take(start: number, count: number): readonly Entry[] {
    if (count === 0 || start >= this.#entries.length) return NONE;
    const removed = this.#entries.splice(start, count);
    this.#subtract(removed);
    return removed;
  }

  #subtract(removed: readonly Entry[]): void {
    for (const { cost, bytes } of removed) {
      this.#totalCost -= cost;
      this.#totals.bytes -= bytes;
    }
    this.#totals.count -= removed.length;
  }

  /** The index of `nonce`, or its insertion index. */
  #indexOf(nonce: bigint): number {
    // Nearly every transaction follows the last one of its account.
    let high = this.#entries.length;
    if (high === 0) return 0;
    const last = this.#entries[high - 1]!.tx.nonce;
    if (last <= nonce) return last === nonce ? high - 1 : high;
    let low = 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#entries[middle]!.tx.nonce < nonce) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const NONE: readonly Entry[] = [];

/** Number of pooled transactions with an authorization of each account (EIP-7702). */
export class AuthorityCounts {
  readonly #counts = new Map<Address, number>();

  has(address: Address): boolean {
    return this.#counts.has(address);
  }

  add({ authorities }: Entry): void {
    for (const authority of authorities) {
      this.#counts.set(authority, (this.#counts.get(authority) ?? 0) + 1);
    }
  }

  /** Undoes `add` of the same entry. */
  remove({ authorities }: Entry): void {
    for (const authority of authorities) {
      const count = this.#counts.get(authority) ?? 0;
      if (count > 1) this.#counts.set(authority, count - 1);
      else this.#counts.delete(authority);
    }
  }
}
