import { setTimeout as sleep } from "node:timers/promises";
import { speculatedCounts } from "../simulation/checks/speculated-counts.ts";

/** Between two looks, in milliseconds: what happened after the last one before a kill is not counted. */
const PAUSE_MS = 100;

/** Reads from the metrics of one life of a node what became of transactions that threads executed ahead. */
export class SpeculationWatch {
  readonly #url: string;
  #isEnding = false;
  #newest: Readonly<Record<string, number>> = {};

  constructor(url: string) {
    this.#url = url;
    void this.#look();
  }

  /** Adds the newest counts to `totals`. */
  end(totals: Record<string, number>): void {
    this.#isEnding = true;
    for (const [outcome, transactions] of Object.entries(this.#newest)) {
      totals[outcome] = (totals[outcome] ?? 0) + transactions;
    }
  }

  async #look(): Promise<void> {
    while (!this.#isEnding) {
      try {
        this.#newest = speculatedCounts(await (await fetch(this.#url)).text());
      } catch {
        // The node is dead, which its killer knows better.
        return;
      }
      await sleep(PAUSE_MS);
    }
  }
}
