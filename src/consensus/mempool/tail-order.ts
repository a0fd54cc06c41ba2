import type { Address } from "../../base/primitives/address.ts";
import { Heap } from "./block-order.ts";
import type { Entry } from "./entry.ts";
import { comparePrices, paysMoreBy } from "./entry.ts";

/** The accounts whose last transactions may be evicted. */
type Tails = {
  addresses(): Iterable<Address>;
  /** The last transaction of an account except for `skipped` later ones; undefined if it has no more. */
  tailOf(address: Address, skipped: number): Entry | undefined;
  /** Number of transactions that can become tails. */
  count(): number;
};

/** The outcome of a search for room: the transactions to evict, or how far the newcomer is from being worth it. */
type Eviction =
  | { readonly victims: readonly Entry[] }
  | { readonly victims: undefined; readonly reason: "underpriced" | "too few" };

/** Stale entries that the heap may hold beyond twice the number of transactions. */
const STALE_SPARE = 64;

/**
 * The eviction order of a full pool: the cheapest among the last transactions of all accounts first. Only last ones, so that an eviction never
 * leaves a nonce gap before a remaining transaction.
 *
 * The heap is built when the pool is full and discarded when prices or tails change other than by `add`: a pool below its limits never pays for
 * it. Entries that are no longer tails are skipped at the top.
 */
export class TailOrder {
  readonly #tails: Tails;
  readonly #percent: number;
  #baseFee: bigint | undefined;
  #heap: Heap<Entry> | undefined;

  /** @param percent by which a transaction must pay more than one it evicts */
  constructor(tails: Tails, percent: number) {
    this.#tails = tails;
    this.#percent = percent;
  }

  /** @param baseFee of the next block, in wei; undefined before London */
  setBaseFee(baseFee: bigint | undefined): void {
    this.#baseFee = baseFee;
    this.#heap = undefined;
  }

  /** Call it when an account lost its tail other than by eviction. */
  invalidate(): void {
    this.#heap = undefined;
  }

  /** Call it with a transaction that may be its account's tail. */
  add(entry: Entry): void {
    this.#heap?.push(entry);
    this.#discardIfStale();
  }

  /** Number of entries, including stale ones. */
  get heldEntries(): number {
    return this.#heap?.size ?? 0;
  }

  /** The transactions to evict to free `bytes` for `newcomer`. Nothing changes until they are removed. */
  findVictims(newcomer: Entry, bytes: number): Eviction {
    this.#heap ??= this.#build();
    const heap = this.#heap;
    const victims: Entry[] = [];
    const ownTails: Entry[] = [];
    const skipped = new Map<Address, number>();
    let missing = bytes;
    let reason: "underpriced" | "too few" | undefined;
    while (missing > 0) {
      const tail = heap.peek();
      if (tail === undefined) {
        reason = "too few";
        break;
      }
      const { sender } = tail;
      const skip = skipped.get(sender) ?? 0;
      const isStale = this.#tails.tailOf(sender, skip) !== tail;
      const isOwn = sender === newcomer.sender;
      if (!isStale && !isOwn && !paysMoreBy(this.#percent, newcomer, tail, this.#baseFee)) {
        const isCheaper = comparePrices(newcomer, tail, this.#baseFee) <= 0;
        reason = isCheaper ? "underpriced" : "too few";
        break;
      }
      heap.pop();
      if (isStale) continue;
      // Evicting the account's own transactions would open a gap before the newcomer.
      if (isOwn) {
        ownTails.push(tail);
        continue;
      }
      victims.push(tail);
      missing -= tail.bytes;
      skipped.set(sender, skip + 1);
      const next = this.#tails.tailOf(sender, skip + 1);
      if (next !== undefined) heap.push(next);
    }
    for (const tail of ownTails) heap.push(tail);
    // The caller may decide against the eviction; once removed, they are stale.
    for (const victim of victims) heap.push(victim);
    this.#discardIfStale();
    return reason === undefined ? { victims } : { victims: undefined, reason };
  }

  #discardIfStale(): void {
    if (this.heldEntries > 2 * this.#tails.count() + STALE_SPARE) this.#heap = undefined;
  }

  #build(): Heap<Entry> {
    const tails: Entry[] = [];
    for (const address of this.#tails.addresses()) {
      const tail = this.#tails.tailOf(address, 0);
      if (tail !== undefined) tails.push(tail);
    }
    return new Heap<Entry>((a, b) => comparePrices(a, b, this.#baseFee) < 0, tails);
  }
}
