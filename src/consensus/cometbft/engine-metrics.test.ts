import assert from "node:assert/strict";
import { test } from "node:test";
import { ACCOUNTS, proposalOf } from "../../../test/support/consensus/test-application.ts";
import { createMetrics } from "../../base/telemetry/metrics.ts";
import { EngineMetrics } from "./engine-metrics.ts";

test("blocks say who proposed, who did not vote and which rounds were lost; CometBFT the rest", () => {
  const metrics = createMetrics();
  const step = { height: 3, round: 2, step: 1 };
  const watcher = new EngineMetrics({
    metrics,
    view: { status: undefined, peers: [], step, quorum: "absent" },
    supervisor: { restartsTotal: 4, state: { kind: "failed", reason: "" } },
    headAge: { ms: 2_500 },
    ownVotes: { unsigned: 7 },
  });
  const [first, second] = ACCOUNTS;
  const votes = [
    { address: first!, power: 10, flag: "commit" },
    { address: second!, power: 10, flag: "absent" },
  ] as const;
  watcher.finalized(proposalOf(1, { proposer: first!, lastCommit: { round: 0, votes: [] } }));
  watcher.finalized(proposalOf(2, { proposer: first!, lastCommit: { round: 3, votes } }));

  const lines = new Set(metrics.exposition().split("\n"));
  for (const line of [
    `evmint_proposed_blocks_total{validator="${first}"} 2`,
    `evmint_missed_votes_total{validator="${second}"} 1`,
    "evmint_lost_rounds_total 3",
    "evmint_validators 2",
    "evmint_validators_voting_power 20",
    "evmint_voting_power 0",
    "evmint_unsigned_blocks 7",
    "evmint_peers 0",
    "evmint_consensus_round 2",
    "evmint_consensus_quorum 0",
    "evmint_head_age_seconds 2.5",
    "evmint_engine_up 0",
    "evmint_engine_given_up 1",
    "evmint_engine_restarts 4",
  ]) {
    assert.ok(lines.has(line), line);
  }
});
