import type { Forgery } from "../cometbft/state-sync/forged-snapshot.ts";
import { snapshotHostility } from "../scenario/faults.ts";
import type { Plan } from "../scenario/plan.ts";
import type { Mutant } from "./mutant.ts";

const FILE = "src/consensus/state-sync/received-snapshot.ts";
/** The proofs of the parts and the root after the last one, which find several of these faults too. */
const UNPROVEN = [
  { file: FILE, from: `    if (proof.length > 0) this.#state.assertBegins(this.#stateRoot, proof);\n`, to: `` },
  { file: FILE, from: `    if (!equalBytes(root, this.#stateRoot)) {`, to: `    if (root === undefined) {` },
] as const;
const LOST_CHECKS = ["answers", "reader", "agreement", "liveness", "own fault", "abci", "model"] as const;

/** Faults of what takes a snapshot from peers. */
export const SNAPSHOT_MUTANTS: readonly Mutant[] = [
  {
    name: "snapshot-state-not-compared",
    why: "A snapshot is taken without a look at the root of its state, which nothing else vouches for.",
    patches: UNPROVEN,
    plan: { engine: "cometbft" },
    suits: hasForgery("forged-balance"),
    seedsMax: 8,
    checks: LOST_CHECKS,
  },
  {
    name: "snapshot-ghost-storage",
    why: "A snapshot may have slots of an account that does not exist. They enter no root, and are there when the account is made.",
    patches: [
      {
        file: FILE,
        from: `    for (const change of part.accounts) {`,
        to: `    for (const change of part.accounts) {\n      if (change.account === null) continue;`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: hasForgery("forged-ghost"),
    seedsMax: 8,
    checks: LOST_CHECKS,
  },
  {
    name: "snapshot-code-missing",
    why: "A snapshot may lack the code of a contract: the node cannot execute what calls it.",
    patches: [
      {
        file: FILE,
        from: `    if (found.length !== expected.length || found.some((hash, i) => hash !== expected[i])) {`,
        to: `    if (found.length > expected.length) {`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: hasForgery("forged-without-code"),
    seedsMax: 8,
    checks: LOST_CHECKS,
  },
  {
    name: "malformed-snapshot-ends-sync",
    why: "What a decoder throws over bytes of a peer ends state sync, in place of the snapshot: one peer stops every new node.",
    patches: [
      {
        file: FILE,
        from: ` is malformed\`, {}, { cause });`,
        to: ` is malformed\`, {}, { cause }).cause;`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: hasForgery("forged-consensus-data"),
    seedsMax: 8,
    checks: ["liveness", "crash", "own fault"],
  },
];

/** Plans in which a node that joins can meet a peer with a forged snapshot, which is newer than those of others. */
function hasForgery(kind: Forgery): (plan: Plan) => boolean {
  return ({ nodes, faults, blockTimeMs }) => {
    const intervals = nodes.map(({ settings }) => Number(settings["snapshot.interval"] ?? 0) * blockTimeMs);
    return faults.some(
      ({ node, atMs, forMs, ...fault }) =>
        fault.kind === "hostile-snapshots" &&
        snapshotHostility(fault.extent) === kind &&
        intervals[node] === 30_000 &&
        intervals.filter((interval) => interval === 30_000).length === 1 &&
        nodes.some(({ joinsAtMs, dials }) => joinsAtMs > atMs && joinsAtMs < atMs + forMs && dials.includes(node)),
    );
  };
}
