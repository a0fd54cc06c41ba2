import assert from "node:assert/strict";
import { test } from "node:test";
import { STRICT_LOGGER } from "../../../../test/support/base/telemetry/strict-logger.ts";
import { EngineView } from "./engine-view.ts";

test("EngineView forgets CometBFT's answers until it answers again", async () => {
  const status = { isCatchingUp: false, votingPower: 10, earliestHeight: 1, latestHeight: 9 };
  const rpc = { status: async () => status, peers: async () => [{ id: "peer" }], round: async () => undefined };
  const view = new EngineView({ retainBlocks: null, blockTimeMs: 1_000 } as never, {
    rpc: rpc as never,
    oldestSnapshot: () => undefined,
    now: () => 0,
    log: STRICT_LOGGER,
  });
  await view.refresh();
  assert.deepEqual([view.status?.votingPower, view.peers.length], [10, 1]);
  view.forget();
  assert.deepEqual([view.status, view.peers, view.round, view.retainHeight], [undefined, [], undefined, 0]);
  await view.refresh();
  assert.equal(view.status?.votingPower, 10);
});
