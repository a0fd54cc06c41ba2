import { all, hasFault, type Mutant } from "./mutant.ts";

const SUPERVISOR = "src/consensus/cometbft/process/supervisor.ts";

/** Faults of what watches CometBFT, and says whether a node is ready. */
export const SUPERVISION_MUTANTS: readonly Mutant[] = [
  {
    name: "engine-not-restarted",
    why: "An engine that ended stays down: the node serves old blocks until somebody looks.",
    patches: [
      {
        file: SUPERVISOR,
        from: `    this.#pause = this.#modules.timers.after(pauseMs, `,
        to: `    this.#pause = this.#modules.timers.after(pauseMs * 1e6, `,
      },
    ],
    plan: { engine: "cometbft", nodes: 4 },
    suits: hasFault("kill-engine"),
    seedsMax: 8,
    checks: ["liveness"],
  },
  {
    name: "watchdogs-act-together",
    why: "All nodes look for a block at the same interval, and restart their engines after one look: a slow network becomes a stopped one.",
    patches: [
      {
        file: "src/consensus/cometbft/process/supervisor.ts",
        from: `    this.#look = this.#modules.timers.after(stallMs * (1 + this.#random()), `,
        to: `    this.#look = this.#modules.timers.after(stallMs, `,
      },
      {
        file: "src/consensus/cometbft/process/supervisor.ts",
        from: `      if (stallsNow < stallsMax) {`,
        to: `      if (stallsNow < Math.min(stallsMax, 1)) {`,
      },
    ],
    plan: { engine: "cometbft", nodes: 4 },
    suits: hasFault("slow-network"),
    seedsMax: 8,
    checks: ["herd"],
  },
  {
    name: "ready-by-number-of-peers",
    why: "A node with few peers says that there is no quorum, though blocks come: every node behind a sentry is taken out of service.",
    patches: [
      {
        file: "src/consensus/cometbft/cometbft-network.ts",
        from: `    if (quorum !== "present") return "no quorum`,
        to: `    if (quorum !== "present" || view.peers.length < 2) return "no quorum`,
      },
    ],
    plan: { engine: "cometbft", nodes: 7 },
    suits: ({ nodes }) => nodes.some(({ dials }) => dials.length === 1),
    seedsMax: 8,
    checks: ["liveness"],
  },
  {
    name: "forks-not-named-is-fine",
    why: "A node without the fork proposes the block that begins it, which the others accept and execute by other rules: it has a block that nobody else has.",
    patches: [
      {
        file: "src/consensus/evm-application.ts",
        from: `    if (isNameless || decodeProposerData(txs[0]).forkHash) return;`,
        to: `    if (height > 0) return;`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: ({ forkAfterMs, durationMs, faults, nodes }) => {
      const forkAtMs = forkAfterMs - 60_000;
      const isMissed = faults.some(({ kind, atMs, extent }) => kind === "late-fork" && atMs < forkAtMs && extent < 0.5);
      return forkAtMs < durationMs - 30_000 && nodes.length >= 4 && isMissed;
    },
    seedsMax: 40,
    checks: ["abci", "agreement"],
  },
  {
    name: "fork-schedule-not-compared",
    why: "A node with another fork time takes the proposals of the others, and executes blocks by other rules: it has another app hash as soon as the rules change a block.",
    patches: [
      {
        file: "src/consensus/evm-application.ts",
        from: `    if (equalBytes(own, forkHash)) return;`,
        to: `    if (forkHash !== own || height > 0) return;`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: ({ forkAfterMs, durationMs, faults }) => {
      const forkAtMs = forkAfterMs - 60_000;
      return forkAtMs < durationMs - 30_000 && faults.some(({ kind, atMs }) => kind === "late-fork" && atMs < forkAtMs);
    },
    seedsMax: 8,
    checks: ["abci", "readiness", "agreement", "answers", "reader"],
  },
  {
    name: "log-line-obeyed",
    why: "A text anywhere in a record of CometBFT's log is a fault: a peer puts it into its handshake and stops the engine.",
    patches: [
      {
        file: "src/consensus/cometbft/process/output.ts",
        from: `    (each) => module === each.module && message === each.message && (each.err?.test(text) ?? true),`,
        to: `    (each) => JSON.stringify([module, message, fields]).includes(each.message),`,
      },
      {
        file: "src/consensus/cometbft/process/output.ts",
        from: `  if (level !== "error") return undefined;\n`,
        to: ``,
      },
    ],
    plan: { engine: "cometbft" },
    suits: hasFault("hostile-handshake"),
    seedsMax: 8,
    checks: ["obedience", "liveness"],
  },
  {
    name: "ready-though-behind",
    why: "A validator that others may wait for fetches blocks by consensus, and says it is ready while it is far behind.",
    patches: [
      {
        file: "src/consensus/cometbft/abci/head-age.ts",
        from: `    return lateHeadMs(this.#pace`,
        to: `    return 1_000 * lateHeadMs(this.#pace`,
      },
    ],
    plan: { engine: "cometbft", nodes: 4 },
    suits: all(({ power }) => power === 1, hasFault("wipe", "stop", "cut-off", "pause")),
    seedsMax: 8,
    checks: ["readiness"],
  },
  {
    name: "restart-without-pause",
    why: "An engine that ends at once is started again at once, for ever: a port that is taken costs a processor and a log.",
    patches: [
      {
        file: "src/consensus/cometbft/process/supervisor.ts",
        from: `Math.min(firstPauseMs * 2 ** this.#restarts, longestPauseMs);`,
        to: `Math.min(0 * firstPauseMs, longestPauseMs);`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: hasFault("failing-engine"),
    seedsMax: 8,
    checks: ["bounds", "time stands still"],
  },
  {
    name: "stop-does-not-wait",
    why: "The node ends while its engine still runs: the next one meets an engine that holds its files and its port.",
    patches: [
      {
        file: "src/consensus/cometbft/process/supervisor.ts",
        from: `    await this.#process?.stop(this.#options.stopGraceMs);\n    // A rollback`,
        to: `    // A rollback`,
      },
      { file: "src/consensus/cometbft/process/supervisor.ts", from: `    await this.#ending;\n`, to: `` },
    ],
    plan: { engine: "cometbft", nodes: 4 },
    suits: hasFault("stop"),
    seedsMax: 8,
    checks: ["orphan", "liveness", "crash", "own fault", "abci", "bounds"],
  },
];
