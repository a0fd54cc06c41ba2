// node --test examples/node.test.mjs
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createNode } from "evmint";

let node;
let snapshot;
before(async () => {
  node = await createNode();
  snapshot = await node.snapshot();
});
beforeEach(async () => {
  await node.revert(snapshot);
  snapshot = await node.snapshot();
});
after(() => node.stop());

test("a transfer arrives", async () => {
  const [alice, bob] = node.accounts.map(({ address }) => address);
  const before = BigInt(await node.rpc.eth_getBalance(bob));
  const hash = await node.rpc.eth_sendTransaction({ from: alice, to: bob, value: 5n });
  const receipt = await node.rpc.eth_getTransactionReceipt(hash);
  assert.equal(receipt.status, "0x1");
  assert.equal(BigInt(await node.rpc.eth_getBalance(bob)), before + 5n);
});

test("the next test begins at the snapshot", async () => {
  assert.equal(await node.rpc.eth_blockNumber(), "0x0");
});
