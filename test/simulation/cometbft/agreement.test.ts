import assert from "node:assert/strict";
import { test } from "node:test";
import { IS_NIGHTLY } from "../../support/nightly.ts";
import { assertAgreement, assertNoFailure } from "./testing/agreement.ts";
import { ModelNetwork, type ModelNode } from "./testing/model-network.ts";

test("one validator makes blocks at the pace of its configuration", async () => {
  const network = new ModelNetwork({ validators: 1 });
  network.start();
  await network.reach(10);
  const [node] = network.nodes;
  assert.deepEqual(node!.application.calls.slice(0, 5), [
    "initChain",
    "prepareProposal 1",
    "processProposal 1",
    "finalizeBlock 1",
    "commit 1",
  ]);
  const times = [...node!.application.finalized.values()].map(({ time }) => Number(time.seconds) + time.nanos / 1e9);
  const gaps = times.slice(2).map((time, index) => time - times[index + 1]!);
  for (const gap of gaps) assert.ok(gap >= 0.899 && gap < 1, String(gap));
  network.close();
});

for (const validators of [4, 7]) {
  test(`${validators} validators agree on every block, in round 0 where nothing is lost`, async () => {
    const network = new ModelNetwork({ validators, followers: 1 });
    network.start();
    await network.reach(20);
    assertAgreement(network.nodes);
    const [{ application }] = network.nodes as [ModelNode];
    for (let height = 5; height <= 20; height++) {
      assert.equal(application.finalized.get(height)!.lastCommit.round, 0, `block ${height}`);
    }
    network.close();
  });

  for (const seed of validators === 4 && IS_NIGHTLY ? [1, 2, 3] : [1]) {
    test(`${validators} validators agree and go on after kills, partitions and lost messages, seed ${seed}`, async () => {
      const network = new ModelNetwork({ validators, seed, blockTimeMs: 500 });
      const { nodes, random, time, links } = network;
      links.faults = { lost: 0.05, doubled: 0.05, delayMin: 1, delayMax: 80 };
      network.start();
      for (let fault = 0; fault < 25; fault++) {
        await time.run(500 + random() * 2_500);
        const node = nodes[Math.floor(random() * nodes.length)]!;
        const other = nodes[Math.floor(random() * nodes.length)]!;
        const which = random();
        if (which < 0.6) node.kill();
        else if (which < 0.8) links.part((a, b) => (a === node.id) !== (b === node.id));
        else links.part((a, b) => (a === node.id || a === other.id) !== (b === node.id || b === other.id));
        await time.run(random() * 3_000);
        for (const each of nodes) if (!each.isRunning) each.start();
        if (random() < 0.7) links.part(() => false);
      }
      links.part(() => false);
      const height = Math.max(...nodes.map(({ application }) => application.disk.height));
      await network.reach(height + 5, 120_000);
      assertAgreement(nodes);
      assertNoFailure(nodes);
      network.close();
    });
  }
}

test("a transaction of one node is gossiped once and is in a block of another", async () => {
  const network = new ModelNetwork({ validators: 4 });
  network.start();
  await network.reach(3);
  const [first, ...others] = network.nodes as [ModelNode, ...ModelNode[]];
  first.application.pending.push(Buffer.from("transfer"));
  await network.time.run(500);
  for (const { application } of others) {
    assert.deepEqual(
      application.inserted.map((tx) => Buffer.from(tx).toString()),
      ["transfer"],
    );
  }
  await network.reach(10);
  const blocks = [...others[0]!.application.finalized.values()];
  assert.equal(blocks.filter(({ txs }) => txs.some((tx) => Buffer.from(tx).toString() === "transfer")).length, 1);
  network.close();
});

test("a validator that lost its blocks fetches them again and never signs twice", async () => {
  const network = new ModelNetwork({ validators: 4, power: 10 });
  network.start();
  await network.reach(5);
  const last = network.nodes.at(-1)!;
  last.kill();
  const others = network.nodes.slice(0, 3);
  await network.reach(60, 120_000, others);
  last.start();
  await network.reach(62, 30_000);
  assertAgreement(network.nodes);
  assert.equal(last.application.calls.filter((call) => call.startsWith("processProposal 3")).length < 12, true);
  network.close();
});
