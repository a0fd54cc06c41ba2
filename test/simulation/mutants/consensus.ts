import type { Plan } from "../scenario/plan.ts";
import { all, hasFault, hasGaps, hasTraffic, type Mutant } from "./mutant.ts";

const APPLICATION = "src/consensus/evm-application.ts";
const HANDLERS = "src/consensus/cometbft/abci/handlers.ts";

/** What a follower alone has comes into no block. */
const isFollowerCutOff = ({ faults, nodes }: Plan) =>
  faults.some(({ kind, node }) => ["cut-off", "split"].includes(kind) && !nodes[node]!.isValidator);

/** Faults of the application that CometBFT drives, and of what nodes send each other. */
export const CONSENSUS_MUTANTS: readonly Mutant[] = [
  {
    name: "block-of-another-round",
    why: "The block that a node has executed for one round is taken for that of another: its app hash is not that of the others.",
    patches: [
      {
        file: "src/consensus/candidates.ts",
        from: `    proposal.height === input.height &&\n    proposal.time.seconds === input.time.seconds &&\n    proposal.time.nanos === input.time.nanos &&\n    proposal.proposer === input.proposer &&\n    (proposal.misbehavior === input.misbehavior || isSameMisbehavior(proposal, input)) &&\n    (txs === input.txs || areSameTransactions(txs, input.txs))`,
        to: `    proposal.height === input.height && isSameMisbehavior(proposal, input) && txs.length > 0`,
      },
    ],
    plan: { engine: "cometbft", nodes: 4 },
    seedsMax: 8,
    checks: ["agreement", "liveness", "abci", "own fault"],
  },
  {
    name: "clock-in-the-block",
    why: "The time of a block is that of the machine where it is later than the proposal's: each node executes another block.",
    patches: [
      {
        file: APPLICATION,
        from: `      timestamp: proposal.time.seconds,`,
        to: `      timestamp: Math.max(proposal.time.seconds, Math.floor(Date.now() / 1_000) - 2),`,
      },
    ],
    plan: { engine: "cometbft", nodes: 4 },
    seedsMax: 8,
    checks: ["agreement", "liveness", "abci", "own fault"],
  },
  {
    name: "own-setting-in-the-block",
    why: "A node executes blocks of others with its own fee recipient: nodes disagree as soon as one of them proposes.",
    patches: [
      {
        file: APPLICATION,
        from: `      ...proposer,\n      timestamp:`,
        to: `      ...proposer,\n      feeRecipient: this.#options.feeRecipient(),\n      timestamp:`,
      },
    ],
    plan: { engine: "cometbft", nodes: 4 },
    seedsMax: 5,
    checks: ["agreement", "liveness", "abci"],
  },
  {
    name: "info-one-block-short",
    why: "After a restart the node says that it has one block less than it has: CometBFT sends a block that is there already.",
    patches: [
      {
        file: HANDLERS,
        from: `lastBlockHeight: isBegun ? BigInt(height) : 0n,`,
        to: `lastBlockHeight: isBegun ? BigInt(height - 1) : 0n,`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: hasFault("kill", "kill-engine", "stop"),
    seedsMax: 10,
    checks: ["own fault", "liveness", "abci", "crash"],
  },
  {
    name: "info-one-block-more",
    why: "After a restart the node says that it has one block more than it has: CometBFT's store ends before it.",
    patches: [
      {
        file: HANDLERS,
        from: `lastBlockHeight: isBegun ? BigInt(height) : 0n,`,
        to: `lastBlockHeight: isBegun ? BigInt(height + 1) : 0n,`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: hasFault("kill", "kill-engine", "stop"),
    seedsMax: 10,
    checks: ["own fault", "liveness", "abci", "crash"],
  },
  {
    name: "commit-before-durable",
    why: "Commit is acknowledged, and the block written afterwards: what CometBFT does next meets a chain without it.",
    patches: [
      {
        file: HANDLERS,
        from: `    commit() {\n      application.commit();`,
        to: `    commit() {\n      setTimeout(() => application.commit(), 20);`,
      },
    ],
    plan: { engine: "cometbft" },
    seedsMax: 8,
    checks: ["own fault", "liveness", "abci", "crash", "durability"],
  },
  {
    name: "agreed-gas-limit-not-proposed",
    why: "Proposers go on with the gas limit of their settings after the validators agreed on another: no proposal is valid, and the network stops.",
    patches: [
      {
        file: "src/node/roles/chain/production-role.ts",
        from: `gasLimitTarget: () => chain.config.gasLimitTarget ?? gasLimit`,
        to: `gasLimitTarget: () => gasLimit`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: ({ hasVotes, nodes }) => hasVotes && nodes.length >= 4,
    seedsMax: 8,
    checks: ["liveness", "abci"],
  },
  {
    name: "validator-updates-not-answered",
    why: "A vote that has a majority changes the set that the chain shows, and not the one that CometBFT counts.",
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
    patches: [
      {
        file: "src/consensus/candidates.ts",
        from: `ours.every((tx, i) => tx === theirs[i] || equalBytes(tx, theirs[i]!));`,
        to: `equalBytes(ours[0] ?? new Uint8Array(), theirs[0] ?? new Uint8Array());`,
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
];
