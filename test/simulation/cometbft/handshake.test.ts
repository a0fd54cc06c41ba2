import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ChainApplication } from "./testing/chain-application.ts";
import { ModelNetwork, type ModelNode } from "./testing/model-network.ts";

/** One validator that was stopped after some blocks, with the state of its application after each block. */
async function stoppedNode(
  height = 9,
): Promise<{ network: ModelNetwork; node: ModelNode; appHashes: Map<number, string> }> {
  const network = new ModelNetwork({ validators: 1, blockTimeMs: 500 });
  const [node] = network.nodes as [ModelNode];
  const appHashes = new Map<number, string>();
  node.start();
  for (let each = 1; each <= height; each++) {
    await network.reach(each);
    appHashes.set(each, node.application.disk.appHash);
  }
  // The engine has saved the last block too.
  await network.time.run(50);
  node.kill();
  return { network, node, appHashes };
}

/** Starts the node with an application that has `height` blocks, and gives it time for one start. */
async function startAt(
  { network, node, appHashes }: Awaited<ReturnType<typeof stoppedNode>>,
  { height, appHash = appHashes.get(height) ?? "" }: { readonly height: number; readonly appHash?: string },
): Promise<readonly string[]> {
  node.application = new ChainApplication({ height, appHash });
  node.start();
  await network.time.run(50);
  return node.application.calls;
}

test("an application without blocks gets InitChain and all blocks of the store", async () => {
  const stopped = await stoppedNode(4);
  const calls = await startAt(stopped, { height: 0 });
  const replayed = [1, 2, 3, 4].flatMap((height) => [`finalizeBlock ${height}`, `commit ${height}`]);
  assert.deepEqual(calls.slice(0, 9), ["initChain", ...replayed]);
  stopped.network.close();
});

test("an application that is behind gets the blocks that it lost", async () => {
  const stopped = await stoppedNode();
  const calls = await startAt(stopped, { height: 7 });
  assert.deepEqual(calls.slice(0, 4), ["finalizeBlock 8", "commit 8", "finalizeBlock 9", "commit 9"]);
  stopped.network.close();
});

test("an application at the height of the store is asked for nothing", async () => {
  const stopped = await stoppedNode();
  assert.deepEqual(await startAt(stopped, { height: 9 }), []);
  await stopped.network.reach(11);
  stopped.network.close();
});

test("an application that is ahead is refused in words that the node reads", async () => {
  const stopped = await stoppedNode();
  await startAt(stopped, { height: 12, appHash: "ab".repeat(32) });
  const { exitCode, stderr } = stopped.node;
  assert.equal(exitCode, 1);
  assert.equal(
    stderr.at(-1),
    "ERROR: failed to create node: error during handshake: error on replay: app block height (12) is higher than core (9)",
  );
  stopped.network.close();
});

test("another app hash than that of the chain is a panic", async () => {
  const stopped = await stoppedNode();
  await startAt(stopped, { height: 9, appHash: "ab".repeat(32) });
  assert.equal(stopped.node.exitCode, 2);
  assert.match(stopped.node.stderr[0]!, /^panic: state\.AppHash does not match AppHash after replay\. Got$/);
  assert.throws(() => stopped.network.close(), /Info has another app hash of block 9/);
});

test("an engine that lost its store refuses an application with blocks", async () => {
  const stopped = await stoppedNode();
  for (const folder of ["blockstore.db", "state.db", "cs.wal"]) {
    rmSync(join(stopped.node.home, "data", folder), { recursive: true });
  }
  await startAt(stopped, { height: 9 });
  assert.equal(stopped.node.exitCode, 2);
  stopped.network.close();
});

for (const call of ["finalizeBlock", "commit"] as const) {
  test(`a node that is killed in the reply to ${call} finishes the block once`, async () => {
    const network = new ModelNetwork({ validators: 1, blockTimeMs: 500 });
    const [node] = network.nodes as [ModelNode];
    node.start();
    await network.reach(3);
    const { application } = node;
    const seen = application.calls.length;
    const isReached = () => application.calls.slice(seen).some((each) => each.startsWith(call));
    await network.time.run(5_000, isReached);
    // The reply has not arrived.
    node.kill();
    const height = application.disk.height;
    const calls = application.calls.length;
    node.start();
    await network.time.run(50);
    const expected = call === "commit" ? [] : [`finalizeBlock ${height + 1}`, `commit ${height + 1}`];
    assert.deepEqual(application.calls.slice(calls), expected);
    await network.reach(height + 3);
    network.close();
  });
}
