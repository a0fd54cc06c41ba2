import type { Patch } from "../build.mjs";
import type { FaultKind, Plan, PlanOptions } from "../scenario/plan.ts";

/** Names that checks of a simulation give their violations. */
export type CheckName =
  | "abci"
  | "agreement"
  | "answers"
  | "bounds"
  | "crash"
  | "durability"
  | "herd"
  | "liveness"
  | "model"
  | "obedience"
  | "orphan"
  | "own fault"
  | "reader"
  | "readiness"
  | "retention"
  | "stall"
  | "time stands still"
  | "validity";

/** A deliberate fault of the node, which simulations of the whole must find. */
export type Mutant = {
  readonly name: string;
  /** What it breaks, and which fault of a real program it is like. */
  readonly why: string;
  readonly patches: readonly Patch[];
  /** Of the plans that are drawn for it. */
  readonly plan: Omit<PlanOptions, "seed">;
  /** Whether a plan can show the fault at all; others are not run. Undefined: all can. */
  readonly suits?: (plan: Plan) => boolean;
  /** Number of suitable seeds, from the first on, one of which must show it. */
  readonly seedsMax: number;
  /** Checks that count: what another one finds may have nothing to do with the fault. */
  readonly checks: readonly CheckName[];
};

/** Plans with a fault of one of `kinds`. */
export function hasFault(...kinds: readonly FaultKind[]): (plan: Plan) => boolean {
  return ({ faults }) => faults.some(({ kind }) => kinds.includes(kind));
}

/** Plans with a node that has any of `settings`. */
export function hasSetting(...settings: readonly string[]): (plan: Plan) => boolean {
  return ({ nodes }) => nodes.some((node) => settings.some((key) => key in node.settings));
}

/** Plans with so many transactions a minute at least. */
export function hasTraffic(transactionsPerMinute: number): (plan: Plan) => boolean {
  return (plan) => plan.transactionsPerMinute >= transactionsPerMinute;
}

/** Plans with blob transactions, right and wrong ones. */
export function hasBlobs(plan: Plan): boolean {
  return plan.users > 0 && plan.blobTransactionsPerMinute > 0;
}

/** Plans with transactions after gaps of nonces, which are filled later. */
export function hasGaps(plan: Plan): boolean {
  return plan.users > 0 && plan.gapsPerMinute > 0;
}

/** Plans with threads that execute transactions of the next block ahead. */
export function hasSpeculation(plan: Plan): boolean {
  return plan.users > 0 && plan.speculationThreads > 0;
}

/** Plans that all of `conditions` hold for. */
export function all(...conditions: readonly ((plan: Plan) => boolean)[]): (plan: Plan) => boolean {
  return (plan) => conditions.every((holds) => holds(plan));
}
