import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/** Restart times are counted in steps of so many milliseconds, rounded up. */
const BUCKET_MS = 10;

/** Counts by milliseconds, rounded up to `BUCKET_MS`. */
export type Histogram = Record<string, number>;

/** Times of runs with one home on a machine that did nothing else, and of all other runs: those say more of the machine than of the node. */
export type Times = { readonly quiet: Histogram; readonly busy: Histogram };

export type EngineResults = {
  kills: number;
  byKind: Record<string, number>;
  /** Of the kills at a named step. */
  byStep: Record<string, number>;
  /** From the spawn of the node to its first answer. */
  restartMs: Times;
  /** From there to the first block that a client was notified of; from the kill, where CometBFT was killed. */
  blockMs: Times;
  homes: number;
  blocks: number;
  transactionsAnswered: number;
  blocksSeen: number;
  receiptsSeen: number;
  /** Kills of homes with speculation threads, by the number of their RPC processes, and what became of transactions there; absent without such homes. */
  speculation?: { kills: number; byRpcProcesses: Record<string, number>; outcomes: Record<string, number> };
  /** CometBFT processes that outlived their node, and that its next start killed. */
  leftovers: number;
};

/** What all runs of the storm together have found. */
export type Results = {
  kills: number;
  /** Kills after which the node did anything that it must not do. */
  failed: number;
  /** Those of them after which something that was answered was not there, or was different. */
  lost: number;
  /** Each that failed, as the run printed it. */
  failures: string[];
  /** Kills by the commit of the source. */
  byCommit: Record<string, number>;
  engines: Record<string, EngineResults>;
};

export const NO_RESULTS: Results = { kills: 0, failed: 0, lost: 0, failures: [], byCommit: {}, engines: {} };

export function readResults(file: string): Results {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Results) : structuredClone(NO_RESULTS);
}

export function writeResults(file: string, results: Results): void {
  const temporary = `${file}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(results, null, 2)}\n`);
  renameSync(temporary, file);
}

export function engineResults(results: Results, engine: string): EngineResults {
  results.engines[engine] ??= {
    kills: 0,
    byKind: {},
    byStep: {},
    restartMs: { quiet: {}, busy: {} },
    blockMs: { quiet: {}, busy: {} },
    homes: 0,
    blocks: 0,
    transactionsAnswered: 0,
    blocksSeen: 0,
    receiptsSeen: 0,
    leftovers: 0,
  };
  return results.engines[engine];
}

/** Adds everything that `other` counts, for instance a run of another copy of the source, to `results`. */
export function addResults(results: Results, other: Results): void {
  addCounts(results as Counts, other as Counts);
}

/** Numbers are added, lists are joined, by their paths in both objects. */
type Counts = { [name: string]: number | string[] | Counts };

function addCounts(sums: Counts, other: Counts): void {
  for (const [name, value] of Object.entries(other)) {
    if (typeof value === "number") sums[name] = ((sums[name] as number | undefined) ?? 0) + value;
    else if (Array.isArray(value)) sums[name] = [...((sums[name] as string[] | undefined) ?? []), ...value];
    else {
      sums[name] ??= {};
      addCounts(sums[name] as Counts, value);
    }
  }
}

export function count(counts: Record<string, number>, key: string, times = 1): void {
  counts[key] = (counts[key] ?? 0) + times;
}

export function countTime(histogram: Histogram, milliseconds: number | undefined): void {
  if (milliseconds !== undefined) count(histogram, String(Math.ceil(milliseconds / BUCKET_MS) * BUCKET_MS));
}

/** The quantile of the times at `share`, in milliseconds; undefined if there are none. */
export function percentile(histogram: Histogram, share: number): number | undefined {
  const times = Object.entries(histogram).sort(([a], [b]) => Number(a) - Number(b));
  const total = times.reduce((sum, [, times]) => sum + times, 0);
  let passed = 0;
  for (const [milliseconds, each] of times) {
    passed += each;
    if (passed >= share * total) return Number(milliseconds);
  }
  return undefined;
}

/** A few lines for people. */
export function summary(results: Results): string {
  const lines = [`${results.kills} kills, ${results.failed} failed, ${results.lost} with a loss`];
  for (const [name, engine] of Object.entries(results.engines)) {
    const times = (histogram: Histogram) =>
      [0.5, 0.9, 0.99, 1].map((share) => percentile(histogram, share) ?? "-").join(" / ");
    const ofMachine = (load: keyof Times) =>
      `${load} machine: restart to first answer ${times(engine.restartMs[load])} ms; to next block ${times(engine.blockMs[load])} ms`;
    lines.push(
      `${name}: ${engine.kills} kills in ${engine.homes} homes, ${engine.blocks} blocks, ${engine.transactionsAnswered} transactions answered`,
      ...(engine.speculation === undefined
        ? []
        : [
            `  ${engine.speculation.kills} with speculation threads: ${listed(engine.speculation.outcomes)}; by RPC processes: ${listed(engine.speculation.byRpcProcesses)}`,
          ]),
      `  ${listed(engine.byKind)}`,
      `  p50 / p90 / p99 / max, ${ofMachine("quiet")}`,
      `  p50 / p90 / p99 / max, ${ofMachine("busy")}`,
    );
  }
  return lines.join("\n");
}

function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}
