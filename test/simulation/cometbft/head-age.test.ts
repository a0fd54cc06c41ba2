import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadAge, lateHeadMs } from "../../../src/consensus/cometbft/abci/head-age.ts";
import type { Request } from "../../../src/consensus/cometbft/abci/messages.ts";
import { roundOf } from "../../../src/consensus/cometbft/rpc/answers.ts";
import { ModelNetwork, type ModelNode, START_SECONDS } from "./testing/model-network.ts";

const BLOCK_TIME_MS = 1_000;

/** A node's view of its head, from the calls of its CometBFT and its round every half second. */
function watch(network: ModelNetwork, node: ModelNode) {
  const { application } = node;
  const now = () => network.time.now;
  const timestamp = () => {
    const head = application.finalized.get(application.disk.height);
    return head === undefined ? START_SECONDS : Number(head.time!.seconds);
  };
  const age = new HeadAge({ blockTimeMs: BLOCK_TIME_MS }, { wallClock: now, now, timestamp });
  application.observe = (call, fields) => {
    const { height, time } = fields as Request<"finalizeBlock">;
    if (call === "processProposal") age.proposed({ height: Number(height) });
    if (call === "finalizeBlock") {
      age.finalized({ height: Number(height), time: { seconds: Number(time!.seconds), nanos: time!.nanos } });
    }
  };
  const poll = () => {
    network.time.after(500, poll);
    if (!node.http) return;
    void node.rpc("consensus_state").then((answer) => age.observe(roundOf(answer)));
  };
  poll();
  return age;
}

for (const [validators, down] of [
  [4, [3]],
  [7, [2, 5]],
] as const) {
  test(`HeadAge is late on no node of ${validators} validators while ${down.length} are down`, async () => {
    const network = new ModelNetwork({ validators, blockTimeMs: BLOCK_TIME_MS });
    const { nodes, time } = network;
    const ages = nodes.map((node) => watch(network, node));
    network.start();
    await network.reach(5);
    for (const index of down) nodes[index]!.kill();
    const healthy = nodes.flatMap((node, index) => (down.some((each) => each === index) ? [] : [{ node, index }]));
    const first = healthy[0]!.node.application.disk.height;
    let lostRounds = 0;
    for (let sample = 0; sample < 250; sample++) {
      await time.run(100);
      const late = healthy.filter(({ index }) => ages[index]!.isLate);
      assert.deepEqual(
        late.map(({ index }) => index),
        [],
        `${sample / 10} s`,
      );
    }
    const last = healthy[0]!.node.application.disk.height;
    for (let height = first; height <= last; height++) {
      lostRounds += healthy[0]!.node.application.finalized.get(height)!.lastCommit.round;
    }
    assert.ok(last - first >= validators && lostRounds >= down.length, `${last - first} blocks, ${lostRounds} rounds`);
    network.close();
  });
}

test("HeadAge is late on a node that is cut off before the others are six blocks ahead", async () => {
  const network = new ModelNetwork({ validators: 4, blockTimeMs: BLOCK_TIME_MS });
  const { nodes, time, links } = network;
  const [cut, other] = nodes as [ModelNode, ModelNode];
  const age = watch(network, cut);
  network.start();
  await network.reach(5);
  for (let moment = 0; moment < 4; moment++) {
    await time.run(250 * moment);
    links.part((a, b) => (a === cut.id) !== (b === cut.id));
    for (let sample = 0; sample < 80; sample++) {
      await time.run(100);
      const behind = other.application.disk.height - cut.application.disk.height;
      assert.ok(age.isLate || behind <= 5, `${behind} blocks behind`);
    }
    assert.equal(age.isLate, true);
    links.part(() => false);
    await network.reach(other.application.disk.height + 4);
    await time.run(500);
    assert.equal(age.isLate, false);
  }
  network.close();
});

test("HeadAge is late on every node once more validators are down than may be, within the time of one round", async () => {
  const network = new ModelNetwork({ validators: 4, blockTimeMs: BLOCK_TIME_MS });
  const { nodes, time } = network;
  const ages = nodes.map((node) => watch(network, node));
  network.start();
  await network.reach(5);
  for (const node of nodes.slice(2)) node.kill();
  await time.run(lateHeadMs(BLOCK_TIME_MS, 1) + BLOCK_TIME_MS);
  for (let sample = 0; sample < 150; sample++) {
    await time.run(100);
    assert.deepEqual([ages[0]!.isLate, ages[1]!.isLate], [true, true]);
  }
  network.close();
});
