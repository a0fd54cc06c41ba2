import type { Cluster, ClusterNode } from "../scenario/cluster.ts";

const LOOK_MS = 1_000;
const SERIES = /^evmint_speculated_transactions_total\{outcome="(\w+)"\} (\d+)$/gm;

/** What became of transactions that threads executed ahead, by outcome. @param exposition metrics as text */
export function speculatedCounts(exposition: string): Readonly<Record<string, number>> {
  const counts = exposition.matchAll(SERIES);
  return Object.fromEntries(Array.from(counts, ([, outcome, count]) => [outcome!, Number(count)]));
}

/** What became of transactions that threads executed ahead, by the metrics of all lives of all nodes: a simulation in which none is applied shows nothing. */
export class SpeculatedCounts {
  /** By process. */
  readonly #counts = new Map<number, Readonly<Record<string, number>>>();

  constructor(cluster: Cluster) {
    if (cluster.plan.speculationThreads === 0) return;
    cluster.onStarted((node) => this.#follow(node));
  }

  totals(): Readonly<Record<string, number>> {
    const sums: Record<string, number> = {};
    for (const counts of this.#counts.values()) {
      for (const [outcome, transactions] of Object.entries(counts)) {
        sums[outcome] = (sums[outcome] ?? 0) + transactions;
      }
    }
    return sums;
  }

  #follow(node: ClusterNode): void {
    const { process, serving } = node;
    if (process === undefined || serving === undefined) return;
    process.after(LOOK_MS, () => {
      void serving.exposition().then((text) => this.#counts.set(process.id, speculatedCounts(text)));
      this.#follow(node);
    });
  }
}
