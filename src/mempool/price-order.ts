import type { Hash } from "../primitives/hash.ts";
import { effectiveTip } from "../types/transaction/fees.ts";
import type { Entry } from "./entry.ts";
import { Heap } from "./heap.ts";
import { slotsOf } from "./limits.ts";

/** Share of the urgent heap: four entries to one of the floating heap. */
const URGENT_RATIO = 4;
/** So many more than twice what is pooled the heaps may hold. */
const HELD_SPARE = 64;

/**
 * Which transactions leave first when the pool is full. Two heaps, cheapest on top: *urgent* by what a transaction pays at the
 * next base fee, *floating* by its fee cap; what neither a high base fee nor a low one would include leaves first.
 *
 * The heaps are made when the pool is full and thrown away when the base fee moves: a pool below its limits never pays for them.
 * Entries that left the pool meanwhile stay in a heap until they come to its top.
 */
export class PriceOrder {
  readonly #pool: ReadonlyMap<Hash, Entry>;
  #baseFee: bigint | undefined;
  #heaps: { readonly urgent: Heap<Entry>; readonly floating: Heap<Entry> } | undefined;

  /** @param pool every pooled entry, live */
  constructor(pool: ReadonlyMap<Hash, Entry>) {
    this.#pool = pool;
  }

  /** @param baseFee that of the next block; undefined before London */
  setBaseFee(baseFee: bigint | undefined): void {
    this.#baseFee = baseFee;
    this.#heaps = undefined;
  }

  add(entry: Entry): void {
    this.#heaps?.urgent.push(entry);
    // Made anew when it is needed again: without a new head nothing else lets go of what left the pool.
    if (this.heldEntries > 2 * this.#pool.size + HELD_SPARE) this.#heaps = undefined;
  }

  /** Entries in the heaps, also those that left the pool. */
  get heldEntries(): number {
    return this.#heaps === undefined ? 0 : this.#heaps.urgent.size + this.#heaps.floating.size;
  }

  /** True when `entry` pays no more than the cheapest of both heaps. */
  isUnderpriced(entry: Entry): boolean {
    const { urgent, floating } = this.#current();
    const cheapestUrgent = this.#top(urgent);
    const cheapestFloating = this.#top(floating);
    if (!cheapestUrgent && !cheapestFloating) return false;
    return (
      (!cheapestUrgent || this.#compare(cheapestUrgent, entry, this.#baseFee) >= 0) &&
      (!cheapestFloating || this.#compare(cheapestFloating, entry, undefined) >= 0)
    );
  }

  /**
   * The entries that must leave to free `slots`, taken out of the order but not out of the pool; undefined when even all of them
   * would not be enough.
   */
  takeCheapest(slots: number): readonly Entry[] | undefined {
    const { urgent, floating } = this.#current();
    const taken: Entry[] = [];
    let missing = slots;
    while (missing > 0) {
      if (urgent.size > floating.size * URGENT_RATIO) {
        const entry = urgent.pop()!;
        if (this.#isPooled(entry)) floating.push(entry);
        continue;
      }
      const entry = floating.pop();
      if (!entry) break;
      if (!this.#isPooled(entry)) continue;
      taken.push(entry);
      missing -= slotsOf(entry);
    }
    if (missing <= 0) return taken;
    this.putBack(taken);
    return undefined;
  }

  /** Entries that were taken stay in the pool after all. */
  putBack(entries: readonly Entry[]): void {
    for (const entry of entries) this.add(entry);
  }

  #current() {
    this.#heaps ??= this.#build();
    return this.#heaps;
  }

  #build() {
    const urgent = new Heap<Entry>(
      (a, b) => this.#isBefore(a, b, this.#baseFee),
      this.#pool.values(),
    );
    const cheapest: Entry[] = [];
    const floatingSize = Math.floor(urgent.size / (URGENT_RATIO + 1));
    while (cheapest.length < floatingSize) cheapest.push(urgent.pop()!);
    return {
      urgent,
      floating: new Heap<Entry>((a, b) => this.#isBefore(a, b, undefined), cheapest),
    };
  }

  #top(heap: Heap<Entry>): Entry | undefined {
    for (;;) {
      const entry = heap.peek();
      if (!entry || this.#isPooled(entry)) return entry;
      heap.pop();
    }
  }

  #isPooled(entry: Entry): boolean {
    return this.#pool.get(entry.tx.hash) === entry;
  }

  #isBefore(a: Entry, b: Entry, baseFee: bigint | undefined): boolean {
    const order = this.#compare(a, b, baseFee);
    // Among equals the higher nonce leaves first: nothing else of its account depends on it.
    return order < 0 || (order === 0 && a.tx.nonce > b.tx.nonce);
  }

  /** Below 0: `a` pays less. */
  #compare(a: Entry, b: Entry, baseFee: bigint | undefined): number {
    return (
      (baseFee === undefined
        ? 0
        : sign(effectiveTip(a.tx, baseFee) - effectiveTip(b.tx, baseFee))) ||
      sign(a.maxFeePerGas - b.maxFeePerGas) ||
      sign(a.maxPriorityFeePerGas - b.maxPriorityFeePerGas)
    );
  }
}

function sign(value: bigint): number {
  return value === 0n ? 0 : value < 0n ? -1 : 1;
}
