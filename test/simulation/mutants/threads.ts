import type { Plan } from "../scenario/plan.ts";
import { hasTraffic, type Mutant } from "./mutant.ts";

/** Plans in which threads execute calls while blocks are removed. */
const hasRemovals = (plan: Plan) => plan.hasCalls && plan.rewindEveryMs > 0;

/** Faults of threads and processes that follow the store: their answers are of the chain as it is. */
export const THREAD_MUTANTS: readonly Mutant[] = [
  {
    name: "epoch-of-the-last-read",
    why: "A process compares the epoch of an answer with that of its own last read: after blocks were removed its threads execute the same call again and again.",
    patches: [
      {
        file: "src/node/processes/followed-chain.ts",
        from: `  newestEpoch(): number {\n    this.#catchUp();`,
        to: `  newestEpoch(): number {`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasRemovals,
    seedsMax: 20,
    checks: ["reader"],
  },
  {
    name: "epoch-not-compared",
    why: "An answer counts though the blocks that it is about were removed before it came.",
    patches: [
      {
        file: "src/node/calls/execution-threads.ts",
        from: `(outcome as ExecutionOutcome).epoch !== this.#options.epoch(),`,
        to: `(outcome as ExecutionOutcome).epoch < 0,`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasRemovals,
    seedsMax: 40,
    checks: ["reader"],
  },
  {
    name: "thread-does-not-catch-up",
    why: "A thread executes calls on the chain as it was when the thread began.",
    patches: [
      {
        file: "src/node/calls/following-execution.ts",
        from: "    this.#chain.catchUp();",
        to: "    this.#chain.followRules();",
      },
    ],
    plan: {},
    suits: ({ hasCalls }) => hasCalls,
    seedsMax: 10,
    checks: ["answers", "reader"],
  },
  {
    name: "removal-not-seen",
    why: "What follows the store reads on after blocks were removed, with what it remembers of them.",
    patches: [
      {
        file: "src/chain/store/follow/store-follower.ts",
        from: `    if (published.epoch !== this.#view.epoch) this.#openAnew();\n    else if`,
        to: `    if`,
      },
    ],
    plan: { engine: "solo" },
    suits: (plan) => plan.rewindEveryMs > 0 && hasTraffic(20)(plan),
    seedsMax: 20,
    checks: ["answers", "reader"],
  },
];
