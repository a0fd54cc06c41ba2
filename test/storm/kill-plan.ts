import { FAIL_POINTS, PRUNE_FAIL_POINTS } from "../support/chain/fail-points.ts";
import type { HomeSettings } from "./home-settings.ts";
import type { ArmedStep } from "./node-process.ts";

/** Ways to end processes with SIGKILL. */
export type KillKind =
  /** The node, at a random moment under load. */
  | "moment"
  /** The node by its own hand, at a named step. */
  | "step"
  /** The node before it answers. */
  | "start"
  /** The node and all that it started, at once. */
  | "all"
  /** One RPC process; the node must serve on. */
  | "rpc process"
  /** CometBFT; the node must start it again and make blocks. */
  | "engine"
  /** The node after some time without CPU (SIGSTOP). */
  | "stopped"
  /** The node while it removes blocks on demand. */
  | "rewind"
  /** `evmintd compact`, on the home of a node that was killed. */
  | "compact";

export type KillPlan = {
  readonly kind: KillKind;
  /** Time under load, or since the spawn for `start` and `compact`, in milliseconds. */
  readonly afterMs: number;
  readonly armed: ArmedStep | undefined;
};

/** The steps of the pool's journal. */
const JOURNAL_STEPS = ["journal:write", "journal:written"] as const;
/** Steps that only a start reaches. */
const START_STEPS = ["journal:copied", "journal:synced", "journal:rewritten", "append:commit", "log:sync"] as const;

/** Of a life under load, most of them short: more kills, and a node is busiest at first. Milliseconds. */
const LIFE_MS_MIN = 30;
const LIFE_MS_MAX = 500;
/** A life that waits for a step ends without it after this time. */
export const STEP_MS_MAX = 900;
/** A start is killed within this time. */
const START_MS_MAX = 320;

type Weight = readonly [kind: KillKind, weight: number];

/** The next kill of a home. */
export function drawKill(settings: HomeSettings, random: () => number): KillPlan {
  const kind = pick(weightsOf(settings), random);
  const slow = settings.slowness;
  const lifeMs = slow * (LIFE_MS_MIN + random() ** 2 * (LIFE_MS_MAX - LIFE_MS_MIN));
  if (kind === "start") {
    const isAtStep = random() < 0.3;
    const armed = isAtStep ? { step: oneOf(START_STEPS, random), hits: 1 } : undefined;
    return { kind, afterMs: random() * START_MS_MAX, armed };
  }
  if (kind === "compact") return { kind, afterMs: 80 + random() * 220, armed: undefined };
  if (kind === "rewind") {
    const armed = random() < 0.3 ? { step: "rollback:log", hits: 1 } : undefined;
    return { kind, afterMs: random() * 12, armed };
  }
  if (kind !== "step") return { kind, afterMs: lifeMs, armed: undefined };
  const step = oneOf(stepsOf(settings), random);
  const hits = 1 + Math.floor(random() * hitsWithin(step, settings));
  return { kind, afterMs: slow * STEP_MS_MAX, armed: { step, hits } };
}

/** How often a life under load comes to a step, about. */
function hitsWithin(step: string, { isInstant, slowness }: HomeSettings): number {
  if (/^(log:segment|log:drop|merge|prune|addresses)/.test(step)) return 2;
  if (isInstant || step.startsWith("journal:")) return 30;
  return slowness > 1 ? 2 : 6;
}

function weightsOf({ engine, rpcProcesses, isInstant }: HomeSettings): readonly Weight[] {
  return [
    ["moment", 40],
    ["step", 28],
    ["start", 10],
    ["stopped", 5],
    ["all", rpcProcesses > 0 || engine !== "solo" ? 8 : 0],
    ["rpc process", rpcProcesses > 0 ? 6 : 0],
    ["engine", engine === "solo" ? 0 : 20],
    ["rewind", engine === "solo" && isInstant ? 5 : 0],
    ["compact", engine === "solo" ? 3 : 0],
  ];
}

/** Points that a life under load reaches. */
function stepsOf({ retainedBlocks, hasAddressIndex, hasSmallLimits }: HomeSettings): readonly string[] {
  const isReached = (step: string) => hasSmallLimits || !/^(log:segment|log:drop|merge)/.test(step);
  return [
    ...FAIL_POINTS.filter(isReached),
    ...JOURNAL_STEPS,
    ...(retainedBlocks === undefined ? [] : PRUNE_FAIL_POINTS.filter(isReached)),
    ...(hasAddressIndex ? ["addresses:begin", "addresses:end"] : []),
  ];
}

function pick(weights: readonly Weight[], random: () => number): KillKind {
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  let at = random() * total;
  for (const [kind, weight] of weights) {
    at -= weight;
    if (at < 0) return kind;
  }
  return "moment";
}

function oneOf<T>(values: readonly T[], random: () => number): T {
  return values[Math.floor(random() * values.length)]!;
}
