import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

const skip = whyLeftOut();

test("four validators and a follower agree on every block, whatever happens to one of them", {
  skip,
}, async (t) => {
  const network = await Network.start(4, 1);
  t.after(() => network.stop());
  const [first, second, third, fourth, follower] = network.nodes as [
    NetworkNode,
    NetworkNode,
    NetworkNode,
    NetworkNode,
    NetworkNode,
  ];
  const height = async (node: NetworkNode) => Number(await node.client.getBlockNumber({ cacheTime: 0 }));
  const reaches = (node: NetworkNode, number: number) =>
    eventually(`${node.home} at block ${number}`, async () => (await height(node)) >= number);
  /** Sends through every node in `through`, and makes sure that `node` comes to the others' height again. */
  async function recovers(what: string, node: NetworkNode, through: readonly NetworkNode[]) {
    for (const each of through) await network.send(each);
    const milliseconds = await reaches(node, (await height(first)) + 2);
    t.diagnostic(`${what}: ${node.home.split("/").at(-1)} is back after ${milliseconds | 0} ms`);
  }

  for (const node of network.nodes) await reaches(node, 2);
  for (let round = 0; round < 4; round++) for (const node of network.nodes) await network.send(node);

  await second.kill();
  await network.send(first);
  second.start();
  await recovers("kill -9 of the node", second, [first, third]);

  third.killEngine();
  await recovers("kill -9 of CometBFT", third, [first, fourth]);

  await fourth.killBoth();
  fourth.start();
  await recovers("kill -9 of both", fourth, [first, second]);

  second.signal("SIGSTOP");
  await setTimeout(5_000);
  second.signal("SIGCONT");
  await recovers("five seconds of SIGSTOP", second, [first, third]);

  await follower.stop();
  for (const folder of ["data", "cometbft/data"]) {
    rmSync(join(follower.home, folder), { recursive: true });
  }
  follower.start();
  await recovers("wiped data of the follower", follower, [first]);

  await eventually("every hash that was answered is mined everywhere", async () => {
    for (const { client } of network.nodes) {
      for (const hash of network.hashes) await client.getTransactionReceipt({ hash });
    }
    return true;
  });
  const last = await height(first);
  for (const node of network.nodes) await reaches(node, last);
  for (let number = 0; number <= last; number++) {
    const hashes = await Promise.all(
      network.nodes.map(async ({ client }) => (await client.getBlock({ blockNumber: BigInt(number) })).hash),
    );
    assert.equal(new Set(hashes).size, 1, `block ${number}`);
  }
  // A validator that was down just now may have missed its turns.
  await eventually("all four propose among the newest twelve blocks", async () => {
    const head = await height(first);
    const proposers = new Set<string>();
    for (let number = head - 11; number <= head; number++) {
      proposers.add((await first.client.getBlock({ blockNumber: BigInt(number) })).miner);
    }
    return proposers.size === 4;
  });

  // It follows, then CometBFT starts again with its key: a node that is ready in between has its neighbour stopped too early.
  await second.stop();
  second.start();
  await eventually("the second is ready", async () => (await second.problem()) === undefined);
  const stays = (await height(first)) + 6;
  while ((await height(first)) < stays) assert.equal(await second.problem(), undefined);

  t.diagnostic(`${network.hashes.length} transactions, ${last} blocks, equal on ${network.nodes.length} nodes`);
});
