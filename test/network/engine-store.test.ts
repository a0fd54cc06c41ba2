import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cometbftPath, setAsidePath } from "../../src/node/config/home.ts";
import { assertSameChain, eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";
import { Traffic, trafficAccounts } from "./traffic.ts";

/** Files of CometBFT's store; the signing state beside them stays. */
const STORES = ["blockstore.db", "state.db", "evidence.db", "tx_index.db", "cs.wal"];

function removeStore({ home }: NetworkNode): void {
  for (const name of STORES) rmSync(join(cometbftPath(home), "data", name), { recursive: true, force: true });
}

test("a node whose CometBFT lost its store, or has an old one, comes back with its chain as it was", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.create({ validators: 4, followers: 1, funded: trafficAccounts(5) });
  const { nodes } = network;
  const [first, , , validator, follower] = nodes as readonly [
    NetworkNode,
    NetworkNode,
    NetworkNode,
    NetworkNode,
    NetworkNode,
  ];
  const traffic = new Traffic(nodes);
  t.after(async () => {
    await traffic.stop();
    await network.stop();
  });
  for (const node of nodes) node.start();
  const reaches = (node: NetworkNode, number: number) =>
    eventually(`block ${number}`, async () => (await node.height()) >= number);
  for (const node of nodes) await reaches(node, 3);
  traffic.start();
  await reaches(follower, 10);

  const copy = join(network.folder, "copy");
  await traffic.pause(4, [first]);
  await follower.stop();
  cpSync(join(cometbftPath(follower.home), "data"), copy, { recursive: true });
  follower.flags.push("--cometbft.rollback-blocks", "1");
  follower.start();
  await reaches(first, 25);
  await reaches(follower, 25);

  await t.test("its store is lost", async () => {
    for (const node of [follower, validator]) {
      await traffic.pause(nodes.indexOf(node), [first]);
      const before = await node.height();
      await node.stop();
      removeStore(node);
      node.start();
      await eventually("it answers", async () => (await node.height()) > 0);
      assert.ok((await node.height()) >= before, "nothing was removed");
      const ms = await eventually("it is ready", async () => (await node.problem()) === undefined);
      t.diagnostic(`${node.home.split("/").at(-1)} is ready ${Math.round(ms)} ms after its start`);
      assert.match(node.log(), /the engine fetches the blocks again/);
      assert.match(node.log(), /the engine has fetched the blocks of the chain/);
      assert.ok(!existsSync(setAsidePath(node.home)), "no block was set aside");
    }
    const from = await first.height();
    await reaches(first, from + 6);
    await eventually("the validator signs again", async () => {
      return (await first.committers((await first.height()) - 1)).size === 4;
    });
  });

  await t.test("its store is older by more blocks than are rolled back", async () => {
    await follower.stop();
    const data = join(cometbftPath(follower.home), "data");
    rmSync(data, { recursive: true });
    cpSync(copy, data, { recursive: true });
    follower.start();
    await eventually("it is ready", async () => (await follower.problem()) === undefined);
    assert.match(follower.log(), /the engine fetches the blocks again/);
    assert.ok(!existsSync(setAsidePath(follower.home)), "no block was set aside");
    assert.ok(readdirSync(data).includes("blockstore.db"));
  });

  await traffic.stop();
  const missing = new Set(traffic.answered);
  await eventually("all transactions are in blocks", async () => {
    for (const hash of missing) {
      const { status } = await first.client.getTransactionReceipt({ hash });
      if (status === "success") missing.delete(hash);
    }
    return missing.size === 0;
  });
  await assertSameChain(nodes);
});
