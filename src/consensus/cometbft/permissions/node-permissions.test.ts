import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { STRICT_LOGGER } from "../../../../test/support/base/telemetry/strict-logger.ts";
import { createMetrics } from "../../../base/telemetry/metrics.ts";
import { PeerLists } from "../../peer-lists.ts";
import { NodePermissions } from "./node-permissions.ts";
import type { ContractAnswer } from "./nodes-contract.ts";

const NAMED = "aa".repeat(20);
const OTHER = "bb".repeat(20);
const SEED = "cc".repeat(20);

type Options = {
  /** What the contract says of each node; unknown of others. */
  readonly contract?: Readonly<Record<string, ContractAnswer>>;
  readonly isLate?: boolean;
};

/** Permissions whose sources a test changes, and whose timers it runs. */
function setup(options: Options) {
  const sources = { contract: {}, isLate: false, ...options };
  const lists = new PeerLists({ persistent: [`${NAMED}@host:1`], trusted: [], rejected: [] });
  const timers = new ManualTimers();
  let restarts = 0;
  const metrics = createMetrics();
  const permissions = new NodePermissions({
    lists,
    seeds: [SEED],
    contract: options.contract && { ask: (id) => sources.contract[id] ?? "unknown" },
    isLate: () => sources.isLate,
    restart: () => void restarts++,
    metrics,
    log: STRICT_LOGGER,
    random: () => 0.5,
    timers,
  });
  return {
    permissions,
    lists,
    sources,
    waits: () => timers.waiting.map(({ inMs }) => inMs),
    isAllowed: (...ids: string[]) => ids.map((id) => permissions.refusal(id) === undefined),
    restarts: () => restarts,
    runTimers: () => timers.advanceSync(60_000),
    exposition: () => metrics.exposition(),
  };
}

test("without lists every node may connect but those that were removed", () => {
  const { lists, isAllowed, exposition } = setup({});
  assert.deepEqual(isAllowed(NAMED, OTHER), [true, true]);
  lists.remove(OTHER);
  assert.deepEqual(isAllowed(NAMED, OTHER), [true, false]);
  assert.match(exposition(), /evmint_refused_peers_total\{source="removed"\} 1/);
});

test("a contract that does not answer allows no node", () => {
  const { isAllowed, exposition } = setup({ contract: {} });
  assert.deepEqual(isAllowed(NAMED, OTHER, SEED), [false, false, false]);
  assert.match(exposition(), /evmint_refused_peers_total\{source="unanswered"\} 3/);
});

test("a node that is late connects to nodes its operator names, and to those that the contract allowed then", () => {
  const { isAllowed, sources } = setup({ contract: { [NAMED]: "refused" }, isLate: true });
  assert.deepEqual(isAllowed(NAMED, SEED, OTHER), [true, true, false]);
  sources.contract = { [OTHER]: "allowed" };
  assert.deepEqual(isAllowed(NAMED, SEED, OTHER), [true, true, true]);
});

test("a connected node that may not connect any more costs one restart of the engine, some time later", () => {
  const { permissions, sources, waits, restarts, runTimers } = setup({
    contract: { [NAMED]: "allowed", [OTHER]: "allowed" },
  });
  permissions.enforce([NAMED, OTHER]);
  assert.deepEqual(waits(), []);
  sources.contract = { [NAMED]: "allowed", [OTHER]: "refused" };
  permissions.enforce([NAMED, OTHER]);
  permissions.enforce([NAMED, OTHER]);
  assert.deepEqual([waits(), restarts()], [[10_000], 0]);
  runTimers();
  assert.equal(restarts(), 1);
  permissions.enforce([NAMED]);
  assert.deepEqual(waits(), []);
});

test("a node that is allowed again in time stays connected", () => {
  const { permissions, sources, restarts, runTimers } = setup({ contract: { [OTHER]: "refused" } });
  permissions.enforce([OTHER]);
  sources.contract = { [OTHER]: "allowed" };
  runTimers();
  assert.equal(restarts(), 0);
});

test("connections stay where the contract does not answer", () => {
  const { permissions, waits } = setup({ contract: {} });
  permissions.enforce([NAMED, OTHER]);
  assert.deepEqual(waits(), []);
});

test("a named node that was disconnected does not come back because the restart made this node late", () => {
  const { permissions, sources, isAllowed, restarts, runTimers } = setup({ contract: { [NAMED]: "refused" } });
  permissions.enforce([NAMED]);
  runTimers();
  assert.equal(restarts(), 1);
  sources.isLate = true;
  assert.deepEqual(isAllowed(NAMED, SEED), [false, true]);
  sources.contract = { [NAMED]: "allowed" };
  assert.deepEqual(isAllowed(NAMED), [true]);
});

test("nothing happens after close", () => {
  const { permissions, restarts, runTimers } = setup({ contract: { [OTHER]: "refused" } });
  permissions.refusal(OTHER);
  permissions.enforce([OTHER]);
  permissions.close();
  runTimers();
  assert.equal(restarts(), 0);
});
