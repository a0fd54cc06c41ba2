import type { Plan } from "../scenario/plan.ts";
import type { Result } from "./protocol.ts";

/** What many seeds came to; results of several runs add up. */
export type SimulationResults = {
  readonly seeds: number;
  readonly failed: number;
  /** Seeds by engine and number of nodes, such as `4 x cometbft`. */
  readonly kinds: Readonly<Record<string, number>>;
  /** Faults by kind. */
  readonly faults: Readonly<Record<string, number>>;
  readonly virtualMs: number;
  readonly cpuMs: number;
  readonly blocks: number;
  readonly acknowledged: number;
  /** Transactions that threads executed ahead, by what became of them. */
  readonly speculated: Readonly<Record<string, number>>;
  readonly events: number;
};

const NOTHING: SimulationResults = {
  seeds: 0,
  failed: 0,
  kinds: {},
  faults: {},
  virtualMs: 0,
  cpuMs: 0,
  blocks: 0,
  acknowledged: 0,
  speculated: {},
  events: 0,
};

export function addResults(a: SimulationResults = NOTHING, b: SimulationResults = NOTHING): SimulationResults {
  return {
    seeds: a.seeds + b.seeds,
    failed: a.failed + b.failed,
    kinds: addCounts(a.kinds, b.kinds),
    faults: addCounts(a.faults, b.faults),
    virtualMs: a.virtualMs + b.virtualMs,
    cpuMs: Math.round(a.cpuMs + b.cpuMs),
    blocks: a.blocks + b.blocks,
    acknowledged: a.acknowledged + b.acknowledged,
    // Results of earlier runs have none.
    speculated: addCounts(a.speculated ?? {}, b.speculated ?? {}),
    events: a.events + b.events,
  };
}

export function resultsOf(result: Result, { engine, nodes, faults }: Plan): SimulationResults {
  const { virtualMs, cpuMs, blocks, acknowledged, speculated, events, violation } = result;
  let counts: Readonly<Record<string, number>> = {};
  for (const { kind } of faults) counts = addCounts(counts, { [kind]: 1 });
  return {
    seeds: 1,
    failed: violation ? 1 : 0,
    kinds: { [`${nodes.length} x ${engine}`]: 1 },
    faults: counts,
    virtualMs,
    cpuMs,
    blocks,
    acknowledged,
    speculated,
    events,
  };
}

function addCounts(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> {
  const sum: Record<string, number> = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return Object.fromEntries(Object.entries(sum).sort(([one], [other]) => (one < other ? -1 : 1)));
}
