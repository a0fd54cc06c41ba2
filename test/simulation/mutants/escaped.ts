import type { Plan } from "../scenario/plan.ts";
import { all, hasFault, hasSetting, hasTraffic, type Mutant } from "./mutant.ts";

/** A kill comes between two transactions of a merge, and the start after it reads the log in more than one piece. */
const hasSmallMerges = ({ nodes: [node] }: Plan) =>
  node!.mergeKeys <= 8 && node!.mergeBlocks > 2 && node!.mergeBlocks < 1_000 && node!.replayBytes <= 10_000;

/** A fault that no check has seen yet. */
export type EscapedMutant = Mutant & {
  /** What the simulator lacks to show it. */
  readonly missing: string;
};

/** Faults that a real node could have and no simulation shows: `--mutants NAME` tries one of them again, `--mutants all` leaves them out. */
export const ESCAPED_MUTANTS: readonly EscapedMutant[] = [
  {
    name: "interrupted-merge-not-repeated",
    why: "A merge that a kill interrupted is forgotten: rows of its end stay under the state of its beginning.",
    missing: "Kills between the transactions of one merge: merges here take one transaction for each table.",
    patches: [
      {
        file: "src/chain/store/replay-log.ts",
        from: `  let interrupted = index.merge.interrupted();`,
        to: `  let interrupted: number | undefined;`,
      },
    ],
    plan: { engine: "solo" },
    suits: all(hasFault("kill-at-write"), hasTraffic(20), hasSmallMerges),
    seedsMax: 40,
    checks: ["liveness", "answers", "reader", "own fault", "agreement", "model", "crash"],
  },
  {
    name: "oldest-block-before-its-nodes",
    why: "An index without its first blocks names its oldest one before it has the nodes of its state: a kill in between leaves a node that never starts.",
    missing:
      "Kills between the commits of a load: states here fit one. `retention.test.ts` kills at each commit, and catches it.",
    patches: [
      {
        file: "src/chain/store/retention/state-file.ts",
        from: `  // A process that died after the checkpoint is through with the state.`,
        to: `  kv.transaction((writer) => index.writeOldestState(writer, stateRoot, applied));`,
      },
    ],
    plan: { engine: "solo" },
    suits: all(hasSetting("chain.retain-blocks"), hasFault("power-cut"), hasFault("kill-at-write")),
    seedsMax: 100,
    checks: ["liveness"],
  },
  {
    name: "sentry-counts-state-gas",
    why: "The sentry of SSTORE (EIP-2200) takes the reservoir of state gas (EIP-8037) for gas: a call with a stipend writes storage.",
    missing:
      "Transactions with more gas than 2^24, which alone have a reservoir. `eip8037-state-gas.test.ts` executes with one, and catches it.",
    patches: [
      {
        file: "src/evm/machine/gen/opcodes/state.ts",
        from: `    const total = i64.add(loop.gas, i64.load(globals.reserve));`,
        to: `    const total = i64.add(i64.add(loop.gas, i64.load(globals.reservoir)), i64.load(globals.reserve));`,
      },
    ],
    plan: { engine: "solo" },
    seedsMax: 1,
    checks: ["model"],
  },
];
