import { parseArgs } from "node:util";
import { type Cut, cutPlan, type Plan, type PlanOptions, planOf } from "../scenario/plan.ts";

const OPTIONS = {
  seed: { type: "string" },
  seeds: { type: "string", default: "1" },
  nodes: { type: "string" },
  engine: { type: "string" },
  for: { type: "string" },
  faults: { type: "string" },
  "keep-nodes": { type: "string" },
  users: { type: "string" },
  parallel: { type: "string", default: "1" },
  seconds: { type: "string" },
  trace: { type: "boolean", default: false },
  page: { type: "string" },
  results: { type: "string" },
  mutants: { type: "string" },
  help: { type: "boolean", default: false },
} as const;

export const HELP = `npm run simulate -- [options]
  --seed N          the first seed; a random one if not given
  --seeds COUNT     so many seeds, one after the other (1)
  --seconds S       new seeds for so long, instead of a count
  --nodes N         1 to 16; drawn from the seed if not given
  --engine NAME     solo or cometbft; drawn if not given
  --for TIME        virtual time in which faults happen, such as 90s, 20m or 1h; drawn if not given
  --faults 1,4      only these faults of the plan, counted from 0, or none
  --keep-nodes N    only the first nodes of the plan
  --users N         only the first users of the plan
  --trace           everything that happened, in words
  --page FILE       a page with a time line of the last seed
  --parallel N      processes side by side (1)
  --results FILE    adds what was found to this file
  --mutants all|NAME  deliberate faults in the sources, each of which has to be caught`;

export type SimulateOptions = {
  readonly seed: string;
  readonly seeds: number;
  readonly seconds: number | undefined;
  readonly plan: Omit<PlanOptions, "seed">;
  readonly cut: Cut;
  readonly parallel: number;
  readonly hasTrace: boolean;
  readonly page: string | undefined;
  readonly results: string | undefined;
  /** A name, or `all`. */
  readonly mutants: string | undefined;
  readonly needsHelp: boolean;
};

/** @throws Error for an unknown option or invalid value */
export function readOptions(args: readonly string[]): SimulateOptions {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const { engine } = values;
  if (engine !== undefined && engine !== "solo" && engine !== "cometbft") {
    throw new Error(`--engine is solo or cometbft, not ${engine}`);
  }
  const nodes = numberOf("nodes", values.nodes);
  if (nodes !== undefined && (nodes < 1 || nodes > 16)) throw new Error("--nodes is 1 to 16");
  const faults = values.faults === undefined ? undefined : values.faults.split(",").filter((each) => each !== "none");
  return {
    seed: values.seed ?? String(Math.floor(Math.random() * 1e9)),
    seeds: numberOf("seeds", values.seeds)!,
    seconds: numberOf("seconds", values.seconds),
    plan: { nodes, engine, durationMs: values.for === undefined ? undefined : durationOf(values.for) },
    cut: {
      nodes: numberOf("keep-nodes", values["keep-nodes"]),
      faults: faults?.map((each) => numberOf("faults", each)!),
      users: numberOf("users", values.users),
    },
    parallel: numberOf("parallel", values.parallel)!,
    hasTrace: values.trace,
    page: values.page,
    results: values.results,
    mutants: values.mutants,
    needsHelp: values.help,
  };
}

export function planFor(options: Pick<SimulateOptions, "plan" | "cut">, seed: string): Plan {
  return cutPlan(planOf({ ...options.plan, seed }), options.cut);
}

/** The command that runs the plan of `seed` again, cut as `cut` says. */
export function commandFor({ plan }: Pick<SimulateOptions, "plan">, seed: string, cut: Cut): string {
  const words = ["npm run simulate --", `--seed ${seed}`];
  if (plan.nodes !== undefined) words.push(`--nodes ${plan.nodes}`);
  if (plan.engine !== undefined) words.push(`--engine ${plan.engine}`);
  if (plan.durationMs !== undefined) words.push(`--for ${plan.durationMs / 1_000}s`);
  if (cut.nodes !== undefined) words.push(`--keep-nodes ${cut.nodes}`);
  if (cut.faults !== undefined) words.push(`--faults ${cut.faults.length === 0 ? "none" : cut.faults.join(",")}`);
  if (cut.users !== undefined) words.push(`--users ${cut.users}`);
  return words.join(" ");
}

function numberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a number, not ${text}`);
  return Number(text);
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

function durationOf(text: string): number {
  const [, count, unit] = /^(\d{1,6})(ms|s|m|h)$/.exec(text) ?? [];
  if (count === undefined) throw new Error(`--for takes a time such as 90s, 20m or 1h, not ${text}`);
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
