import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cometbftPath } from "../../src/node/config/home.ts";
import { eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

const skip = whyLeftOut();

test("without two of four validators there are no blocks and nodes say so; with three of them there are", {
  skip,
}, async (t) => {
  const network = await Network.start(4, 0);
  t.after(() => network.stop());
  const [first, second, third, fourth] = network.nodes as [NetworkNode, NetworkNode, NetworkNode, NetworkNode];
  for (const node of network.nodes) {
    await eventually("block 2", async () => (await node.height()) >= 2);
  }
  await network.send(first);
  await third.killBoth();
  await fourth.killBoth();
  for (const node of [first, second]) {
    await eventually("it has no quorum", async () => {
      return /no quorum/.test((await node.problem()) ?? "");
    });
  }
  const halted = await first.height();
  await network.send(second);
  assert.equal(await first.height(), halted);
  assert.equal(await second.height(), halted);

  // What makes or removes blocks by hand is the solo engine's.
  for (const [method, ...params] of [
    ["debug_setHead", "0x1"],
    ["testing_commitBlockV1", {}, [], "0x"],
    ["admin_importChain", join(first.home, "none.rlp")],
  ] as const) {
    await assert.rejects(first.request(method, ...params), /-32000|-32602/, method);
  }
  assert.equal(await first.height(), halted);

  third.start();
  await eventually("blocks again", async () => (await first.height()) >= halted + 2);
  await eventually("it is ready", async () => (await first.problem()) === undefined);

  // The second and the third are lost for good as well: the chain goes on from the longest log with one validator.
  const hash = network.hashes.at(-1)!;
  await eventually("the transaction", async () => {
    return (await first.client.getTransactionReceipt({ hash })).status === "success";
  });
  await first.stop();
  await third.killBoth();
  await second.stop();
  removeEngine(first.home);
  first.start();
  const before = await eventually("the chain goes on", async () => {
    return (await first.height()) > halted + 2 && (await first.problem()) === undefined;
  });
  t.diagnostic(`one of four validators goes on alone after ${Math.round(before)} ms`);
  assert.equal((await first.client.getTransactionReceipt({ hash })).status, "success");
  const signers = (await first.request("clique_getSigners")) as readonly string[];
  assert.equal(signers.length, 1);

  // Another machine of the old network follows with its own log and keys.
  removeEngine(second.home);
  const genesis = "cometbft/config/genesis.json";
  cpSync(join(first.home, genesis), join(second.home, genesis));
  second.start();
  await eventually("it answers", async () => (await second.height()) > 0);
  await network.send(second);
  const sent = network.hashes.at(-1)!;
  await eventually("its transaction is in a block", async () => {
    return (await second.client.getTransactionReceipt({ hash: sent })).status === "success";
  });
});

/** Removes CometBFT's blocks and genesis; its keys stay. */
function removeEngine(home: string): void {
  for (const part of ["data", "config/genesis.json", "config/addrbook.json"]) {
    rmSync(join(cometbftPath(home), part), { recursive: true, force: true });
  }
}
