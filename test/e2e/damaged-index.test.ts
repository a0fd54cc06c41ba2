import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { DamagedHome, FLAGS } from "../support/damaged-index/damaged-home.ts";
import { NodeLife } from "../support/damaged-index/node-life.ts";
import { startTestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";

test("a node that opens its index before its check makes no block on a damaged page, and has no wrong answer once it is ready", async () => {
  const damaged = new DamagedHome(800, 20_261_128);
  try {
    await damaged.begin(20);
    await damaged.hideAccount("before the start");
    await damaged.hideAccount("while the node runs");
    await damaged.damage("branch", "hide", "before the start");
    await damaged.damage("leaf transaction", "flip", "while the node runs");
    await damaged.assertEveryBlock();
  } finally {
    damaged.remove();
  }
});

/** Under CometBFT too, with TEST_ENGINE=cometbft. */
test("the engine of a node begins once its index was checked, or not at all where the node stops before", async () => {
  const home = mkdtempSync(join(tmpdir(), "evmint-engine-"));
  const options = { dev: true, home, hooks: { checkedFirstBytesMax: 0 } };
  const [from, to] = DEV_ADDRESSES;
  try {
    for (let life = 0; life < 3; life++) {
      const node = await startTestNode(options);
      const next = node.node.chain.head + 1;
      await node.node.provider.request({ method: "eth_sendTransaction", params: [{ from, to, value: "0x1" }] });
      await node.untilBlock(next);
      assert.equal(node.node.core.store.isUnchecked, false);
      await node.stop();
      await (await startTestNode(options)).stop();
    }
  } finally {
    rmSync(home, { recursive: true });
  }
});

test("a dev chain that opens its index before its check accepts transactions, and is not changed before the check has ended", async () => {
  const home = mkdtempSync(join(tmpdir(), "evmint-unchecked-"));
  const gate = join(home, "gate");
  const options = { home, dev: true, flags: { ...FLAGS, "json-rpc.api": "all" }, gate };
  const [from, to] = DEV_ADDRESSES;
  const transfer = { method: "eth_sendTransaction", params: [{ from, to, value: "0x1" }] };
  const blockNumber = { method: "eth_blockNumber", params: [] };
  try {
    const first = new NodeLife(options);
    await first.ask([transfer]);
    await until(async () => (await first.ask([blockNumber]))[0]?.result === "0x1", "block 1");
    await first.stop();

    const stopped = new NodeLife(options);
    assert.equal((await stopped.readiness()).ready, false);
    await stopped.stop();
    const state = join(home, "data/index.state");
    assert.equal(readFileSync(state, "latin1"), "unchecked");
    const second = new NodeLife(options);
    assert.deepEqual(await second.readiness(), { ready: true, head: 1 });
    await second.stop();
    assert.match(readFileSync(state, "latin1"), /^clean /);

    const node = new NodeLife(options);
    const { reason, ...readiness } = await node.readiness();
    assert.deepEqual(readiness, { ready: false, head: 1 });
    assert.match(reason!, /index is being checked/);
    const [sent, ...changes] = await node.ask([
      transfer,
      { method: "evm_mine", params: [] },
      { method: "anvil_setBalance", params: [to, "0x7"] },
      { method: "evm_setAutomine", params: [false] },
      { method: "debug_setHead", params: ["0x0"] },
      { method: "evm_snapshot", params: [] },
    ]);
    assert.match(sent!.result as string, /^0x[0-9a-f]{64}$/);
    for (const { error } of changes) assert.match(error?.message ?? "", /index is being checked/);
    assert.equal((await node.ask([blockNumber]))[0]!.result, "0x1");
    writeFileSync(gate, "");
    await until(() => node.isReady(), "the end of the check");
    await until(async () => (await node.ask([blockNumber]))[0]?.result === "0x2", "block 2");
    const [mined, set] = await node.ask([
      { method: "evm_mine", params: [] },
      { method: "anvil_setBalance", params: [to, "0x7"] },
    ]);
    assert.deepEqual([mined!.error, set!.error], [undefined, undefined]);
    await node.stop();
  } finally {
    rmSync(home, { recursive: true });
  }
});
