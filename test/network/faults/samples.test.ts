import assert from "node:assert/strict";
import { test } from "node:test";
import { Samples } from "./samples.ts";

const ready = (head: number) => ({ ready: true, head });

test("an answer is late where it is ready and more than five blocks behind what was answered before the question", () => {
  const samples = new Samples(4, 100);
  const early = samples.begin();
  assert.equal(samples.answered(0, samples.begin(), ready(10)), undefined);
  assert.equal(samples.answered(1, samples.begin(), ready(5)), undefined);
  assert.deepEqual(samples.answered(1, samples.begin(), ready(4)), { node: 1, head: 4, highest: 10 });
  assert.equal(samples.answered(1, samples.begin(), { ready: false, head: 4 }), undefined);
  // It was asked before anybody had answered.
  assert.equal(samples.answered(2, early, ready(1)), undefined);
  // A node whose data is gone does not lower what the others have answered.
  samples.answered(0, samples.begin(), { ready: false, head: 0 });
  assert.deepEqual(samples.answered(3, samples.begin(), ready(4)), { node: 3, head: 4, highest: 10 });
  samples.unanswered();
  assert.deepEqual(samples.counts, {
    begun: 7,
    ready: 5,
    notReady: 2,
    healthyNotReady: 2,
    reasons: { "": 2 },
    unanswered: 1,
    late: 2,
    longestStandstillMs: 0,
  });
});

test("an answer of a node that is not ready counts as a healthy one's where nothing happens to the node", () => {
  const samples = new Samples(4, 100);
  const unready = (node: number, reason: string) =>
    samples.answered(node, samples.begin(), { ready: false, head: 1, reason });
  samples.away = [2];
  unready(2, "no quorum");
  unready(1, "block 7 is 5 s old");
  samples.away = [];
  unready(2, "block 9 is 6 s old");
  assert.equal(samples.counts.notReady, 3);
  assert.equal(samples.counts.healthyNotReady, 2);
  assert.deepEqual(samples.counts.reasons, { "block N is N s old": 2 });
});

test("the majority has a block that three of four validators have", () => {
  const samples = new Samples(4, 100);
  const answer = (node: number, head: number) => samples.answered(node, samples.begin(), ready(head));
  for (const [node, head] of [5, 6, 7, 1].entries()) answer(node, head);
  // Followers count for nothing.
  answer(4, 9);
  assert.deepEqual(samples.majorityBlock(1_000), { number: 5, gapMs: 0 });
  assert.equal(samples.majorityBlock(1_500), undefined);
  answer(3, 6);
  assert.deepEqual(samples.majorityBlock(3_000), { number: 6, gapMs: 2_000 });
});

test("what the sampler itself stood still is no time without blocks", () => {
  const samples = new Samples(1, 100);
  samples.answered(0, samples.begin(), ready(1));
  samples.tick(0);
  samples.majorityBlock(0);
  samples.tick(100);
  samples.tick(5_200);
  samples.answered(0, samples.begin(), ready(2));
  assert.deepEqual(samples.majorityBlock(5_300), { number: 2, gapMs: 300 });
  assert.equal(samples.counts.longestStandstillMs, 5_000);
});
