import assert from "node:assert/strict";
import { test } from "node:test";
import { applicationOverAbci } from "../../../../test/support/consensus/cometbft/application-over-abci.ts";
import {
  ACCOUNTS,
  inputOf,
  openTestApplication,
  proposalOf,
} from "../../../../test/support/consensus/test-application.ts";
import { type Logger, SILENT_LOGGER } from "../../../base/telemetry/logger.ts";
import { createMetrics } from "../../../base/telemetry/metrics.ts";
import type { Misbehavior } from "../../application.ts";
import { MisbehaviorReports } from "./block-watchers.ts";

/** A moment after block 1. */
const wallClock = () => (proposalOf(1).time.seconds + 1) * 1_000;

test("a proof of misbehaviour in a decided block is counted and logged, and the block is the same", () => {
  const metrics = createMetrics();
  const lines: unknown[] = [];
  const log: Logger = { ...SILENT_LOGGER, error: (_, data) => void lines.push(data) };
  const [plain, { application }] = [openTestApplication(), openTestApplication()];
  const watchers = [new MisbehaviorReports({ wallClock, metrics, log })];
  const watched = applicationOverAbci(application, { watchers });
  const [address, other] = ACCOUNTS as [Misbehavior["address"], Misbehavior["address"]];
  const misbehavior: readonly Misbehavior[] = [
    { kind: "duplicateVote", address, height: 1 },
    { kind: "lightClientAttack", address: other, height: 1 },
  ];

  assert.match(metrics.exposition(), /^evmint_misbehavior_total\{kind="duplicateVote"\} 0$/m);
  const txs = watched.prepareProposal({ ...proposalOf(1), maxTxBytes: 1_000 });
  const { appHash } = watched.finalizeBlock(inputOf(proposalOf(1, { misbehavior }), txs));
  assert.equal(appHash, plain.application.finalizeBlock(inputOf(proposalOf(1), txs)).appHash);
  assert.deepEqual(lines, [
    { kind: "duplicateVote", validator: address, height: 1, provenIn: 1 },
    { kind: "lightClientAttack", validator: other, height: 1, provenIn: 1 },
  ]);
  assert.match(metrics.exposition(), /^evmint_misbehavior_total\{kind="duplicateVote"\} 1$/m);
});

test("a proof in a block that is fetched long after it was decided is not reported again", () => {
  const metrics = createMetrics();
  const reports = new MisbehaviorReports({
    wallClock: () => wallClock() + 2 * 3_600_000,
    metrics,
    log: { ...SILENT_LOGGER, error: () => assert.fail() },
  });
  const misbehavior: readonly Misbehavior[] = [{ kind: "duplicateVote", address: ACCOUNTS[0]!, height: 1 }];
  reports.finalized(inputOf(proposalOf(1, { misbehavior }), []));
  assert.match(metrics.exposition(), /^evmint_misbehavior_total\{kind="duplicateVote"\} 0$/m);
});
