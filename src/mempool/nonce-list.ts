import { type Entry, satisfiesPriceBump } from "./entry.ts";

/** Transactions of one account by ascending nonce, one a nonce, gaps allowed. */
export class NonceList {
  /** Ascending nonce. */
  #entries: Entry[] = [];
  #totalCost = 0n;
  /** No transaction costs more, none has more gas: lets `removeUnpayable` skip most lists unread. */
  #costMax = 0n;
  #gasMax = 0n;

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
   * Puts `entry` in, in place of the one with its nonce if it satisfiesPriceBump that one.
   * @returns whether it is in, and which entry left for it
   */
  add(entry: Entry, priceBump: number): { readonly added: boolean; readonly replaced?: Entry } {
    const index = this.#indexOf(entry.tx.nonce);
    const old = this.#entries[index];
    const isReplacement = old?.tx.nonce === entry.tx.nonce;
    if (isReplacement && !satisfiesPriceBump(entry, old, priceBump)) return { added: false };
    this.#entries.splice(index, isReplacement ? 1 : 0, entry);
    this.#totalCost += entry.cost;
    if (entry.cost > this.#costMax) this.#costMax = entry.cost;
    if (entry.tx.gasLimit > this.#gasMax) this.#gasMax = entry.tx.gasLimit;
    if (!isReplacement) return { added: true };
    this.#totalCost -= old.cost;
    return { added: true, replaced: old };
  }

  /** Takes out exactly `entry`; false when it is not here. */
  remove(entry: Entry): boolean {
    const index = this.#indexOf(entry.tx.nonce);
    if (this.#entries[index] !== entry) return false;
    this.#take(index, 1);
    return true;
  }

  /** Takes out and returns every entry with a nonce below `nonce`. */
  removeBelow(nonce: bigint): Entry[] {
    return this.#take(0, this.#indexOf(nonce));
  }

  /** Takes out and returns every entry with a nonce of `nonce` or more. */
  removeFrom(nonce: bigint): Entry[] {
    return this.#take(this.#indexOf(nonce), this.#entries.length);
  }

  /** Takes out and returns what costs more than `balance` or has more gas than `gasLimit`. */
  removeUnpayable(balance: bigint, gasLimit: bigint): Entry[] {
    if (this.#costMax <= balance && this.#gasMax <= gasLimit) return [];
    this.#costMax = balance;
    this.#gasMax = gasLimit;
    const isPayable = ({ cost, tx }: Entry) => cost <= balance && tx.gasLimit <= gasLimit;
    const removed = this.#entries.filter((entry) => !isPayable(entry));
    if (removed.length > 0) {
      this.#entries = this.#entries.filter(isPayable);
      for (const entry of removed) this.#totalCost -= entry.cost;
    }
    return removed;
  }

  /** Takes out and returns the run of consecutive nonces at the front, unless it begins after `nonce`. */
  removeReady(nonce: bigint): Entry[] {
    const first = this.#entries[0];
    if (!first || first.tx.nonce > nonce) return [];
    let length = 1;
    while (this.#entries[length]?.tx.nonce === first.tx.nonce + BigInt(length)) length++;
    return this.#take(0, length);
  }

  /** Takes out and returns the highest nonces beyond the `size` lowest. */
  truncate(size: number): Entry[] {
    return this.#take(size, this.#entries.length);
  }

  #take(start: number, count: number): Entry[] {
    const removed = this.#entries.splice(start, count);
    for (const entry of removed) this.#totalCost -= entry.cost;
    return removed;
  }

  /** Where `nonce` stands or would stand. */
  #indexOf(nonce: bigint): number {
    // Nearly every transaction comes behind the last one of its account.
    let high = this.#entries.length;
    if (high === 0 || this.#entries[high - 1]!.tx.nonce < nonce) return high;
    let low = 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#entries[middle]!.tx.nonce < nonce) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
