import type { TraceLine } from "../kernel/trace.ts";
import type { Plan } from "../scenario/plan.ts";

/** A request to a simulation process. */
export type Request = {
  readonly plan: Plan;
  /** The trace is written in words too. */
  readonly hasWords: boolean;
};

/** Something that must never happen, and did. */
export type Violation = {
  /** The check that found it. */
  readonly check: string;
  readonly message: string;
  readonly cause: string | undefined;
};

/** What became of a plan. */
export type Result = {
  readonly seed: string;
  readonly nodes: number;
  /** Of everything that happened: the same each time. */
  readonly hash: string;
  readonly virtualMs: number;
  readonly events: number;
  readonly messages: number;
  readonly blocks: number;
  readonly acknowledged: number;
  /** Transactions that threads executed ahead, by what became of them. */
  readonly speculated: Readonly<Record<string, number>>;
  /** Real time of the processor. */
  readonly cpuMs: number;
  /** Of the process after the run. */
  readonly heapBytes: number;
  readonly violation: Violation | undefined;
  /** Empty unless text was requested. */
  readonly lines: readonly TraceLine[];
};

/** Of a plan that did nothing. */
export function emptyResult({ seed, nodes }: Plan): Result {
  return {
    seed,
    nodes: nodes.length,
    hash: "",
    virtualMs: 0,
    events: 0,
    messages: 0,
    blocks: 0,
    acknowledged: 0,
    speculated: {},
    cpuMs: 0,
    heapBytes: 0,
    violation: undefined,
    lines: [],
  };
}
