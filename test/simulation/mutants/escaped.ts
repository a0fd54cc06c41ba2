import type { Plan } from "../scenario/plan.ts";
import { all, hasFault, hasGaps, hasTraffic, type Mutant } from "./mutant.ts";

/** With some kilobytes left. */
const hasFullDisk = ({ faults }: Plan) => faults.some(({ kind, extent }) => kind === "full-disk" && extent < 0.5);

/** A kill comes between two transactions of a merge, and the start after it reads the log in more than one piece. */
const hasSmallMerges = ({ nodes: [node] }: Plan) =>
  node!.mergeKeys <= 8 && node!.mergeBlocks > 2 && node!.mergeBlocks < 1_000 && node!.replayBytes <= 10_000;

/** So long that blocks come which it does not hear of. */
const isCutOffForLong = ({ faults }: Plan) => faults.some(({ kind, forMs }) => kind === "cut-off" && forMs > 15_000);

/** What a follower alone has comes into no block. */
const isFollowerCutOff = ({ faults, nodes }: Plan) =>
  faults.some(({ kind, node }) => ["cut-off", "split"].includes(kind) && !nodes[node]!.isValidator);

/** A fault that no check has seen yet. */
export type EscapedMutant = Mutant & {
  /** What the simulator lacks to show it. */
  readonly missing: string;
};

/** Faults that a real node could have and no simulation shows: `--mutants NAME` tries one of them again, `--mutants all` leaves them out. */
export const ESCAPED_MUTANTS: readonly EscapedMutant[] = [
  {
    name: "checksum-not-verified",
    why: "A record counts as whole by its marker and length: what a power cut tore is decoded.",
    missing: "Records of few sectors, so that hardly ever one is whole at both ends and not between: larger blocks.",
    patches: [
      {
        file: "src/storage/log-segment.ts",
        from: `  return checksum(bytes.subarray(4, 8), payload, salt) === expected ? payload : undefined;`,
        to: `  return expected >= 0 ? payload : undefined;`,
      },
    ],
    plan: { engine: "solo" },
    suits: all(hasFault("power-cut-at-write"), hasTraffic(60)),
    seedsMax: 40,
    checks: ["liveness", "durability", "own fault", "crash", "agreement", "model"],
  },
  {
    name: "interrupted-merge-not-repeated",
    why: "A merge that a kill interrupted is forgotten: rows of its end stay under the state of its beginning.",
    missing: "Kills between the transactions of one merge: merges here take one transaction for each table.",
    patches: [
      {
        file: "src/chain/store/log/replay-log.ts",
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
    name: "free-space-guard-off",
    why: "Blocks are taken while the disk has no space for the pages of the index: a mapped file with holes ends the process with SIGBUS.",
    missing:
      "A mapped file that ends the process where the disk has no page for it: replacements/lmdb-kv.ts takes every write.",
    patches: [
      {
        file: "src/chain/store/write-guard.ts",
        from: `    return this.#freeBytes() >= FREE_BYTES_MIN;`,
        to: `    return this.#freeBytes() >= 0;`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasFullDisk,
    seedsMax: 40,
    checks: ["crash", "own fault", "durability", "liveness"],
  },
  {
    name: "reverted-slots-stay",
    why: "A call that fails takes back its logs and its gas, and not what it has written.",
    missing:
      "A contract that goes on after a call of another one has failed: frames that fail here are outermost ones.",
    patches: [
      {
        file: "src/evm/session.ts",
        from: `  journal.revert(memory.get32(frame.snapshot));\n  session.logs.revert();`,
        to: `  if (journal === undefined) memory.get32(frame.snapshot);\n  session.logs.revert();`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasTraffic(20),
    seedsMax: 10,
    checks: ["model", "answers"],
  },
  {
    name: "queued-not-promoted",
    why: "A transaction that waits for a nonce is not looked at again when a block brings it: it waits for ever.",
    missing: "A nonce that a block brings to a node that has not heard of its transaction before.",
    patches: [
      {
        file: "src/mempool/legacy-pool.ts",
        from: `    if (queued.size > 0) this.#promote(address, account);\n    this.#closeIfEmpty(address, account);`,
        to: `    this.#closeIfEmpty(address, account);`,
      },
    ],
    plan: { engine: "cometbft", nodes: 4 },
    suits: all(hasGaps, isCutOffForLong),
    seedsMax: 20,
    checks: ["liveness", "durability"],
  },
  {
    name: "replacement-loses-both",
    why: "A transaction that pays more removes the one with its nonce, and is not entered in the list itself.",
    missing: "Replacements that reach every node before the first transaction is in a block.",
    patches: [
      {
        file: "src/mempool/nonce-list.ts",
        from: `    if (index === this.#entries.length) this.#entries.push(entry);`,
        to: `    if (isReplacement) return { added: true, replaced: old };\n    if (index === this.#entries.length) this.#entries.push(entry);`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasGaps,
    seedsMax: 8,
    checks: ["liveness", "durability", "own fault"],
  },
  {
    name: "gap-counts-as-next",
    why: "A transaction whose nonce is too high counts as executable: it is offered to blocks that cannot take it.",
    missing: "Transactions with nonce gaps that nothing fills for several blocks.",
    patches: [
      {
        file: "src/mempool/legacy-pool.ts",
        from: `    const isNext = nonce === account.nextNonce && account.queued.size === 0;`,
        to: `    const isNext = nonce >= account.nextNonce && account.queued.size === 0;`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasGaps,
    seedsMax: 8,
    checks: ["answers", "liveness", "durability", "own fault", "model"],
  },
  {
    name: "validator-updates-not-answered",
    why: "A vote that has a majority changes the set that the chain shows, and not the one that CometBFT counts.",
    missing: "No seed was run yet.",
    patches: [
      {
        file: "src/consensus/cometbft/abci/handlers.ts",
        from: `    validatorUpdates: validatorUpdates.map(updateOf),`,
        to: `    validatorUpdates: validatorUpdates.slice(0, 0).map(updateOf),`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: ({ hasVotes }) => hasVotes,
    seedsMax: 8,
    checks: ["answers", "abci", "liveness", "agreement"],
  },
  {
    name: "votes-counted-twice",
    why: "Each block with the vote of a proposer counts it anew: one validator alone has a majority after some blocks.",
    missing:
      "Votes that are not cast by all validators together: a wrong count gives the same set some blocks earlier.",
    patches: [
      {
        file: "src/consensus/voting/snapshot.ts",
        from: `  const others = current.votes.filter((cast) => cast.signer !== signer || cast.candidate !== vote.candidate);`,
        to: `  const others = current.votes;`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: hasFault("hostile-ballots"),
    seedsMax: 8,
    checks: ["abci", "answers", "agreement"],
  },
  {
    name: "candidate-compared-by-count",
    why: "Two proposals of one proposer with as many transactions count as the same: a dishonest one sends each peer another.",
    missing: "No seed was run yet.",
    patches: [
      {
        file: "src/consensus/candidates.ts",
        from: `    txs.every((tx, i) => tx === input.txs[i] || equalBytes(tx, input.txs[i]!))`,
        to: `    equalBytes(txs[0] ?? new Uint8Array(), input.txs[0] ?? new Uint8Array())`,
      },
    ],
    plan: { engine: "cometbft", nodes: 4 },
    suits: all(hasFault("hostile-proposals"), hasTraffic(60), ({ blockTimeMs }) => blockTimeMs >= 2_000),
    seedsMax: 20,
    checks: ["agreement", "liveness", "abci", "own fault"],
  },
  {
    name: "local-transactions-not-announced-again",
    why: "A transaction is announced once: where no peer was connected then, only its own node knows it.",
    missing: "No seed was run yet.",
    patches: [
      {
        file: "src/consensus/gossip-list.ts",
        from: `      else if (announcedAt <= due) unannounced.add(hash);`,
        to: `      else if (announcedAt < 0 * due) unannounced.add(hash);`,
      },
    ],
    plan: { engine: "cometbft", nodes: 5 },
    suits: all(hasGaps, isFollowerCutOff),
    seedsMax: 20,
    checks: ["liveness", "durability"],
  },
  {
    name: "restart-without-pause",
    why: "An engine that ends at once is started again at once, for ever: a port that is taken costs a processor and a log.",
    missing: "No seed was run yet.",
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
    missing: "No seed was run yet.",
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
