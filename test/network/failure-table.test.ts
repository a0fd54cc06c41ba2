import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

/*
 * What can happen between a node, its CometBFT and the other validators, and the test of each: part of its title, in the file it is in. Tests below
 * test/network/ need the real binary, the others are of `npm test`.
 */

const LIFE = "src/consensus/cometbft/process/engine-life.test.ts";
const SUPERVISOR = "src/consensus/cometbft/process/supervisor.test.ts";
const HANDLERS = "src/consensus/cometbft/abci/handlers.test.ts";
const CONTRACT = "src/consensus/testing/application-contract.ts";
const APPLICATION = "src/consensus/evm-application.test.ts";
const PROPOSALS = "src/consensus/damaged-proposals.test.ts";
const SESSION = "src/consensus/cometbft/state-sync-session.test.ts";
const PERTURBATIONS = "test/network/perturbations.test.ts";
const FAULTS = "test/network/faults/plan.ts";
const DISASTER = "test/network/disaster.test.ts";
const WRONG_HOME = "test/network/wrong-home.test.ts";
const ROLLBACK = "test/network/rollback.test.ts";

const ROWS: readonly (readonly [what: string, file: string, title: string])[] = [
  // Start of CometBFT: A is the height of the application, S that of its block store, T that of its state.
  ["A = 0: InitChain, then all blocks", LIFE, "handshake calls what the heights"],
  ["A < S: the blocks after A again", LIFE, "handshake calls what the heights"],
  ["S = T + 1, A = T: the last block again", LIFE, "handshake calls what the heights"],
  ["S = T + 1, A = S: the stored result", LIFE, "handshake calls what the heights"],
  ["A = S = T, other app hash", LIFE, "does not start where the app hashes differ"],
  ["A > S: rolled back to S", LIFE, "ahead of CometBFT's store is rolled back"],
  ["A > S: no further than allowed, and set aside", ROLLBACK, "rolled back to it only as far as"],
  ["A > S: where the store says otherwise", SUPERVISOR, "nothing is rolled back and the engine"],
  ["A > S: once", SUPERVISOR, "ahead of the engine is rolled back, once"],
  ["A + 1 < first block of the store", LIFE, "needs blocks which CometBFT has pruned"],
  ["A + 1 < first block: stays down", SUPERVISOR, "which the engine has pruned leaves it down"],
  ["InitChain again, or of another genesis", LIFE, "initChain may be repeated"],
  ["state sync has no InitChain", SESSION, "state sync ends with the info call"],

  // The calls at each height.
  ["rounds with other contents, finalize repeated", CONTRACT, "rounds with other contents"],
  ["ProcessProposal is deterministic", PROPOSALS, "damaged proposals are rejected"],
  ["FinalizeBlock is, with and without a cache", PROPOSALS, "with and without cache and replay"],
  ["Commit is durable before its reply", LIFE, "cannot be made durable is not acknowledged"],
  ["what was proposed is executed once", APPLICATION, "is not executed again"],
  ["a reverted call has code 0", CONTRACT, "a reverted call is part of the block"],
  ["an invalid transaction of a decided block", CONTRACT, "is skipped with code 1"],
  ["validators change at H + 2", LIFE, "decides from the second block after"],
  ["replies that contradict themselves", HANDLERS, "replies that would halt CometBFT"],
  ["the size of a proposal", CONTRACT, "prepareProposal keeps the size limit"],
  ["evidence", "src/consensus/cometbft/abci/misbehavior.test.ts", "a proof of misbehaviour"],
  ["gossip: each transaction once", CONTRACT, "returns each new transaction once"],
  ["gossip: what peers send that is invalid", CONTRACT, "insertTx answers 1 only for"],
  ["clocks", "src/consensus/cometbft/abci/clock-skew.test.ts", "differs by more than two seconds"],

  // Failures.
  ["kill -9 of the node at each step", LIFE, 'async "the node"'],
  ["kill -9 of CometBFT at each step", LIFE, "async CometBFT"],
  ["power loss at each step", LIFE, 'async "the machine"'],
  ["kill -9 of the node under traffic", PERTURBATIONS, "kill -9 of the node"],
  ["kill -9 of CometBFT under traffic", PERTURBATIONS, "kill -9 of CometBFT"],
  ["kill -9 of both under traffic", PERTURBATIONS, "kill -9 of both"],
  ["SIGSTOP", PERTURBATIONS, "SIGSTOP of both"],
  ["SIGSTOP of one of the two", FAULTS, "SIGSTOP of CometBFT"],
  ["no connection", PERTURBATIONS, "no connection for 10 s"],
  ["a network that loses what is sent one way", FAULTS, "is not heard"],
  ["data/ is lost", PERTURBATIONS, "data directory wiped"],
  ["the disk of a validator is lost", FAULTS, "data/ and cometbft/data/ lost"],
  ["an older copy of a validator's home", FAULTS, "restored from a backup"],
  ["a clock ahead, and behind", PERTURBATIONS, "clock 90 s behind"],
  ["a minority halts; no quorum", DISASTER, "without two of four validators"],
  ["most validators are lost", DISASTER, "goes on alone"],
  ["disk full (the node)", PERTURBATIONS, '"disk full"'],
  ["disk full (CometBFT)", PERTURBATIONS, '"disk of CometBFT full"'],
  ["disk full (CometBFT): tried for ever", SUPERVISOR, "whose disk is full is tried"],
  ["a torn last record", "src/storage/block-log.test.ts", "torn"],
  ["a damaged log", WRONG_HOME, "the log is damaged: the chain is made again"],
  ["a damaged log: the remedy", "src/cli/errors.test.ts", "names what to restore"],
  ["a wrong block 0", WRONG_HOME, "a wrong block 0 end the start"],
  ["a wrong block 0: before there is data", "src/node/chain/network-engine.test.ts", "before a store is made of it"],
  ["blocks before the initial height are missing", WRONG_HOME, "first one are missing"],
  [
    "CometBFT cannot go on from its store",
    "test/network/state-sync.test.ts",
    "begins again from a snapshot, by the lines",
  ],
  ["another app hash, rollback", "test/network/upgrade.test.ts", "one that missed it stays down"],
  ["other rules: one rollback", "test/network/other-rules.test.ts", "is brought back by one rollback"],
  ["a rollback that dies", "src/node/rollback.test.ts", "leaves the chain whole where it dies"],
  ["consensus failure while the process lives", SUPERVISOR, "stops the living process"],
  ["no block for too long", SUPERVISOR, "living engine without blocks"],
  ["an exception, a short or oversize reply", HANDLERS, "replies that would halt CometBFT"],
  ["a dishonest proposer", "test/network/hostile-proposer.test.ts", "a dishonest proposer"],
  ["a key in use twice: one process a home", "src/storage/lock.test.ts", "another process holds it"],
  ["a key in use twice: new homes", "src/cli/engine-commands.test.ts", "keys of their own"],
  ["an upgrade of the rules", "test/network/upgrade.test.ts", "is scheduled node by node"],
  ["blocks made or removed by hand", DISASTER, "debug_setHead"],
  ["state sync into an empty home", "test/network/state-sync.test.ts", "restores a snapshot"],
  ["a hostile snapshot", "test/e2e/state-sync.test.ts", "than its app hash vouches for"],
  ["made-up consensus data", "test/security/poisoned-snapshots.test.ts", "with any field changed"],
  [
    "servers of state sync that are silent or lie",
    "src/consensus/cometbft/state-sync-servers.test.ts",
    "contradict each other",
  ],
  ["a snapshot without end", "test/e2e/state-sync.test.ts", "snapshot.restore-size-limit"],
  ["replies that nobody reads", "src/consensus/cometbft/abci/server.test.ts", "reads no replies"],
];

test("everything that can happen to a node of a network has a test", () => {
  for (const [what, file, title] of ROWS) {
    assert.ok(readFileSync(file, "utf8").includes(title), `${what}: ${file} has no "${title}"`);
  }
});
