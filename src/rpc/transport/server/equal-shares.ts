import { holderOf } from "./connection-shares.ts";

/**
 * A resource that all callers share, such as filters, counted by the address that holds it. Up to the limit, requests are granted as they come.
 * From there to twice the limit, an address gets at most an equal share, so a caller who takes everything locks no other out.
 */
export class EqualShares {
  readonly #max: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get total(): number {
    return this.#total;
  }

  mayTake(address: string | undefined, amount: number): boolean {
    const total = this.#total + amount;
    if (total <= this.#max) return true;
    const holder = holderOf(address);
    const own = this.#held.get(holder) ?? 0;
    const holders = this.#held.size + (own === 0 ? 1 : 0);
    return total <= 2 * this.#max && own + amount <= this.#max / holders;
  }

  /** @param amount below 0 where it is given back */
  add(address: string | undefined, amount: number): void {
    const holder = holderOf(address);
    const held = (this.#held.get(holder) ?? 0) + amount;
    if (held === 0) this.#held.delete(holder);
    else this.#held.set(holder, held);
    this.#total += amount;
  }

  clear(): void {
    this.#held.clear();
    this.#total = 0;
  }
}
