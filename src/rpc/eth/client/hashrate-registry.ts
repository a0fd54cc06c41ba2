import type { Hash } from "../../../primitives/hash.ts";

/** A miner that is silent for this long is gone, as geth's remote sealer has it. */
const EXPIRY_MS = 10_000;

/** Miners remembered at a time; ids are chosen by the caller, so their number must be bounded. */
const MINERS_MAX = 1_000;

/** The hashrates miners report, in hashes a second. */
export class HashrateRegistry {
  readonly #now: () => number;
  /** In order of the last report, oldest first. */
  readonly #reports = new Map<Hash, { readonly rate: bigint; readonly at: number }>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  report(miner: Hash, rate: bigint): void {
    this.#forgetSilent();
    this.#reports.delete(miner);
    const [oldest] = this.#reports.keys();
    if (oldest !== undefined && this.#reports.size >= MINERS_MAX) this.#reports.delete(oldest);
    this.#reports.set(miner, { rate, at: this.#now() });
  }

  /** Of all miners that are not silent. */
  total(): bigint {
    this.#forgetSilent();
    let sum = 0n;
    for (const { rate } of this.#reports.values()) sum += rate;
    return sum;
  }

  #forgetSilent(): void {
    const oldest = this.#now() - EXPIRY_MS;
    for (const [miner, { at }] of this.#reports) {
      if (at > oldest) break;
      this.#reports.delete(miner);
    }
  }
}
