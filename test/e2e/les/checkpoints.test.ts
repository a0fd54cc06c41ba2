import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { verifiedHeader } from "../../../scripts/verify-header.ts";
import type { Hash } from "../../../src/base/primitives/hash.ts";
import { headerHash } from "../../../src/base/types/header-codec.ts";
import { overHttp } from "../../support/clients.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";

const SETTINGS = { "consensus.block-time": "manual" };
const LIMITS = { checkpoints: { sectionSize: 128, confirmations: 1 } };

const home = mkdtempSync(join(tmpdir(), "evmint-les-"));
after(() => rmSync(home, { recursive: true, force: true }));

afterEach(() => running?.stop());

let running: TestNode | undefined;

async function start(settings: Readonly<Record<string, string>> = {}): Promise<TestNode> {
  running = await startTestNode({
    dev: true,
    home,
    limits: LIMITS,
    settings: { ...SETTINGS, ...settings },
  });
  return running;
}

type LatestCheckpoint = [section: string, head: Hash, chtRoot: Hash, bloomRoot: Hash];

async function latest({ url }: TestNode): Promise<LatestCheckpoint | undefined> {
  return (await overHttp(url, "les_latestCheckpoint")).result as LatestCheckpoint | undefined;
}

/** Asks until the checkpoint of `section` is there: it is computed between other requests. */
async function checkpointOf(node: TestNode, section: number): Promise<LatestCheckpoint> {
  for (;;) {
    const checkpoint = await latest(node);
    if (checkpoint?.[0] === `0x${section.toString(16)}`) return checkpoint;
  }
}

test("checkpoints are computed while blocks are made, prove old headers, and survive restarts, damage and a rollback", async () => {
  let node = await start();
  const { error } = await overHttp(node.url, "les_latestCheckpoint");
  assert.equal(error?.code, -32000);
  assert.equal(error.message, "no local checkpoint provided");
  for (let i = 0; i < 256; i++) node.produceBlock();
  const first = await checkpointOf(node, 1);
  const [, sectionHead, chtRoot, bloomRoot] = first;
  const { chain } = node.node.core;
  assert.equal(sectionHead, chain.blockHash(255));
  const { result } = await overHttp(node.url, "les_getCheckpoint", [1]);
  assert.deepEqual(result, [sectionHead, chtRoot, bloomRoot]);

  const header = await verifiedHeader({ url: node.url, section: 1, chtRoot, number: 77 });
  assert.equal(headerHash(header), chain.blockHash(77));
  const wrongRoot = sectionHead;
  await assert.rejects(verifiedHeader({ url: node.url, section: 1, chtRoot: wrongRoot, number: 77 }), {
    code: "INVALID_TRIE_PROOF",
  });
  for (const params of [[2], ["0x2"], [1e9]]) {
    assert.equal((await overHttp(node.url, "les_getCheckpoint", params)).error?.code, -32000);
  }
  for (const params of [[], [-1], ["x"], [1.5]]) {
    assert.equal((await overHttp(node.url, "les_getCheckpoint", params)).error?.code, -32602);
  }

  await node.stop();
  node = await start();
  assert.deepEqual(await latest(node), first);

  await node.stop();
  writeFileSync(join(home, "data/checkpoints/data.mdb"), "not a store");
  node = await start();
  assert.deepEqual(await checkpointOf(node, 1), first);

  // Another history after block 200.
  await node.node.core.production.rewind(200);
  assert.equal((await latest(node))?.[0], "0x0");
  const { result: accounts } = await overHttp(node.url, "eth_accounts");
  const [from, to] = accounts as string[];
  await overHttp(node.url, "eth_sendTransaction", [{ from, to, value: "0x1" }]);
  for (let i = 0; i < 60; i++) node.produceBlock();
  const second = await checkpointOf(node, 1);
  assert.equal(second[1], node.node.core.chain.blockHash(255));
  assert.notEqual(second[1], first[1]);
  await node.stop();
});

test("the contract address is the configured one, and an error without one", async () => {
  const address = "0x9a9070028361f7aabeb3f2f2dc07f82c4a98a02a";
  let node = await start();
  const { error } = await overHttp(node.url, "les_getCheckpointContractAddress");
  assert.equal(error?.message, "checkpoint registrar is not activated");
  await node.stop();
  node = await start({ "les.checkpoint-oracle": address });
  const { result } = await overHttp(node.url, "les_getCheckpointContractAddress");
  assert.equal(result, "0x9a9070028361F7AAbeB3f2F2Dc07F82C4a98A02a");
  await node.stop();
});
