import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { WITHDRAWAL_REQUEST_ADDRESS } from "../../../src/base/params/gas.ts";
import { addressToBytes } from "../../../src/base/primitives/address.ts";
import type { QuarantineEntry } from "../../../src/consensus/quarantine.ts";
import { openLmdbKv } from "../../../src/store/storage/lmdb/lmdb-kv.ts";
import { TABLE, tableKey } from "../../../src/store/storage/schema.ts";
import { overHttp } from "../../support/clients.ts";
import { makeHome, transfer } from "../../support/made-chain.ts";
import { metricOf, WITH_METRICS } from "../../support/metrics.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";

const homes: string[] = [];
const newHome = () => {
  const home = makeHome();
  homes.push(home);
  return home;
};
after(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

const send = (node: TestNode, raw: string) => overHttp(node.url, "eth_sendRawTransaction", [raw]);
const blockNumber = async (node: TestNode) => Number((await overHttp(node.url, "eth_blockNumber")).result);

test("a transaction that crashes the executor is quarantined for good, and the chain goes on", async () => {
  const home = newHome();
  const settings = { "consensus.block-time": "instant", ...WITH_METRICS };
  const poison = transfer(1n);
  const bug = new TypeError("injected into the executor");
  const hooks = {
    beforeTransaction(tx: { readonly nonce: bigint }) {
      if (tx.nonce !== 1n) return;
      throw bug;
    },
  };
  const expectedErrors = [
    /^error internal error where=executor .*injected into the executor/,
    /^error transaction quarantined /,
  ];
  const node = await startTestNode({ home, settings, hooks, expectedErrors });
  await send(node, transfer(0n));
  const hash = (await send(node, poison)).result;
  await Promise.all([node.untilBlock(1), node.untilLogged(/transaction quarantined/)]);
  assert.equal(node.node.core.pool.mempool.counts().pending, 0);
  assert.equal(await metricOf(node, "failures_total", 'class="internal",where="executor"'), 1);
  assert.equal(await metricOf(node, "quarantined_transactions"), 1);
  assert.equal((await send(node, poison)).error?.code, -32000);
  await node.stop();

  const file = readFileSync(join(home, "data/quarantine/transactions.jsonl"), "utf8");
  const entry = JSON.parse(file) as QuarantineEntry;
  assert.deepEqual([entry.hash, entry.raw], [hash, poison]);
  assert.ok(entry.error.includes(bug.message));

  // The next start has the bug fixed, and still neither journal nor caller brings the transaction back.
  const again = await startTestNode({ home, settings });
  assert.deepEqual(again.node.core.pool.mempool.counts(), { pending: 0, queued: 0 });
  assert.equal((await send(again, poison)).error?.code, -32000);
  again.produceBlock();
  assert.equal(again.node.core.chain.head().block.header.number, 2);
  await again.stop();
});

test("a damaged index row met in the warm-up is reported, and the node serves the rest", async () => {
  const home = newHome();
  const first = await startTestNode({ home, settings: { "consensus.block-time": "manual" } });
  first.produceBlock();
  await first.stop();
  const index = openLmdbKv(join(home, "data/index"));
  index.transaction((writer) => {
    const key = tableKey(TABLE.account, addressToBytes(WITHDRAWAL_REQUEST_ADDRESS));
    writer.put(key, Uint8Array.of(0xff));
  });
  index.close();

  const node = await startTestNode({
    home,
    settings: { "consensus.block-time": "manual", ...WITH_METRICS },
    expectedErrors: [/where=warm-up class=operator .*STORE_MALFORMED_BYTES/],
  });
  await node.untilLogged(/where=warm-up/);
  assert.equal(await metricOf(node, "failures_total", 'class="operator",where="warm-up"'), 1);
  assert.equal(await blockNumber(node), 1);
  await node.stop();
});

test("a clock that jumps eighty years stops blocks with the reason in /readyz, and resumes when it is right", async () => {
  const clock = { wall: Date.now(), monotonic: 0 };
  const node = await startTestNode({
    home: newHome(),
    settings: { "consensus.block-time": "instant", ...WITH_METRICS },
    hooks: { wallClock: () => clock.wall, monotonicClock: () => clock.monotonic },
    expectedErrors: [/^error clock: .*CLOCK_JUMP/, /where="block production" .*CLOCK_JUMP/],
  });
  const readyz = async () => {
    const { url } = node.node.listeners.find(({ kind }) => kind === "metrics")!;
    const response = await fetch(url.replace("/metrics", "/readyz"));
    return { status: response.status, ...((await response.json()) as { reason?: string }) };
  };
  const years = 80 * 365 * 86_400_000;
  clock.wall += years;
  await send(node, transfer(0n));
  await node.untilLogged(/where="block production"/);
  assert.equal(await metricOf(node, "blocks_stalled"), 1);
  const { status, reason } = await readyz();
  assert.equal(status, 503);
  assert.ok(reason?.includes("--accept-clock"));
  assert.equal(await blockNumber(node), 0);
  clock.wall -= years;
  await node.untilBlock(1);
  assert.equal((await readyz()).status, 200);
  const { timestamp } = node.node.core.chain.head().block.header;
  assert.equal(timestamp, Math.floor(clock.wall / 1000));
  await node.stop();
});

test("an error of the in-process provider keeps the original error", async () => {
  const node = await startTestNode({
    home: newHome(),
    settings: { "consensus.block-time": "manual" },
  });
  const bug = new TypeError("injected", { cause: new Error("root") });
  node.node.core.pool.mempool.counts = () => {
    throw bug;
  };
  const { provider } = node.node;
  await assert.rejects(provider.request({ method: "txpool_status" }), { code: -32603, cause: bug });
  const raw = transfer(0n, 1n);
  await assert.rejects(
    provider.request({ method: "eth_sendRawTransaction", params: [raw] }),
    (error: Error & { code?: number }) =>
      error.code === -32000 && (error.cause as { code?: string }).code === "TX_INVALID_SENDER",
  );
  await node.stop();
});
