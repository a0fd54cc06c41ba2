import type { PooledTransaction } from "../../../consensus/mempool/pool.ts";

/** 20,000 transactions arrive in half a minute at full load; 16 MB bound large ones. */
const ENTRIES_MAX = 20_000;
const BYTES_MAX = 16 << 20;

type Announced = Pick<PooledTransaction, "tx" | "sender">;

/** The newest transactions that became executable, numbered, so that each filter continues from its own position. */
export class PendingRing {
  readonly #entries: Announced[] = [];
  #bytes = 0;
  /** Number of the first entry. */
  #start = 0;

  /** Number that the next transaction gets. */
  get end(): number {
    return this.#start + this.#entries.length;
  }

  add(added: readonly PooledTransaction[]): void {
    for (const { tx, sender } of added) {
      this.#entries.push({ tx, sender });
      this.#bytes += tx.raw.length;
    }
    let dropped = 0;
    while (this.#entries.length - dropped > ENTRIES_MAX || this.#bytes > BYTES_MAX) {
      this.#bytes -= this.#entries[dropped]!.tx.raw.length;
      dropped++;
    }
    this.#entries.splice(0, dropped);
    this.#start += dropped;
  }

  /** Transactions from number `from` on; those already dropped are left out. */
  since(from: number): readonly Announced[] {
    return this.#entries.slice(Math.max(0, from - this.#start));
  }

  clear(): void {
    this.#start = this.end;
    this.#entries.length = 0;
    this.#bytes = 0;
  }
}
