import assert from "node:assert/strict";
import { test } from "node:test";
import { QuorumWatch } from "./quorum-watch.ts";

const STEP = { height: 8, round: 0, step: 4 };
const voted = (votedPower: number, totalPower = 40) => ({ step: STEP, votedPower, totalPower });

function watchOf(blockTimeMs = 1_000) {
  let now = 0;
  const watch = new QuorumWatch(blockTimeMs, () => now);
  return {
    watch,
    pass(ms: number) {
      now += ms;
    },
  };
}

test("more than two thirds of the voting power are a quorum, exactly two thirds are none", () => {
  const { watch } = watchOf();
  assert.equal(watch.quorum, "unknown");
  const cases = [
    [voted(30), "present"],
    [voted(27), "present"],
    [voted(26), "absent"],
    [voted(20, 30), "absent"],
    [voted(0), "absent"],
    [voted(0, 0), "absent"],
    [undefined, "unknown"],
  ] as const;
  for (const [round, quorum] of cases) {
    watch.observe(round);
    assert.equal(watch.quorum, quorum, JSON.stringify(round));
  }
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
