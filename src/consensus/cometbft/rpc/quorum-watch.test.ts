import assert from "node:assert/strict";
import { test } from "node:test";
import { QuorumWatch } from "./engine-view.ts";

const voted = (votedPower: number, round = 0, totalPower = 40) => ({
  step: { height: 8, round, step: 4 },
  votedPower,
  totalPower,
  votedAtMs: undefined,
  votes: [],
});

function watchOf(blockTimeMs = 1_000) {
  let now = 0;
  const watch = new QuorumWatch({ blockTimeMs }, () => now);
  return {
    watch,
    pass(ms: number) {
      now += ms;
    },
  };
}

test("votes with more than two thirds of the power that come in are a quorum, exactly two thirds are none", () => {
  const cases = [
    [voted(30), "present"],
    [voted(27), "present"],
    [voted(26), "absent"],
    [voted(20, 0, 30), "absent"],
    [voted(0, 0, 0), "absent"],
    [undefined, "unknown"],
  ] as const;
  for (const [round, quorum] of cases) {
    const { watch } = watchOf();
    assert.equal(watch.quorum, "unknown");
    watch.observe(voted(0));
    assert.equal(watch.quorum, "absent");
    watch.observe(round);
    assert.equal(watch.quorum, quorum, JSON.stringify(round));
  }
});

test("a round that ends is the work of a quorum, also where the next one has no votes yet", () => {
  const { watch, pass } = watchOf();
  for (let round = 0; round < 5; round++) {
    pass(60_000);
    assert.notEqual(watch.quorum, "present");
    watch.observe(voted(0, round));
    assert.equal(watch.quorum, round === 0 ? "absent" : "present");
  }
});

test("votes that were there before are no quorum: of peers that are gone, or from CometBFT's journal", () => {
  const { watch, pass } = watchOf();
  watch.observe(voted(0));
  watch.observe(voted(30));
  for (let poll = 0; poll < 5; poll++) {
    pass(2_000);
    watch.observe(voted(30));
  }
  assert.equal(watch.quorum, "unknown");
  watch.observe(undefined);
  watch.observe(voted(30));
  assert.equal(watch.quorum, "unknown");
});

test("a block stands for a quorum until five more are overdue, whatever a poll sees between two rounds", () => {
  const { watch, pass } = watchOf(4_000);
  watch.observe(voted(0));
  watch.committed();
  assert.equal(watch.quorum, "present");
  pass(19_999);
  assert.equal(watch.quorum, "present");
  pass(1);
  assert.equal(watch.quorum, "absent");
  watch.observe(undefined);
  assert.equal(watch.quorum, "unknown");
});
