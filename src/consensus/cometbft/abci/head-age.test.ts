import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadAge } from "./block-watchers.ts";

const SECONDS = 1_700_000_000;

function open(blockTimeMs: number) {
  let now = 1_000 * SECONDS;
  let head = SECONDS - 60;
  const age = new HeadAge({ blockTimeMs }, { wallClock: () => now, timestamp: () => head });
  return {
    age,
    pass(ms: number) {
      now += ms;
    },
    /** A block with the time of now less `ageMs`. */
    decide(ageMs: number) {
      const time = now - ageMs;
      head = Math.floor(time / 1_000);
      age.finalized({ time: { seconds: head, nanos: (time % 1_000) * 1e6 } });
    },
  };
}

test("a head is late after 4.5 block times, and after 4.5 s where blocks are closer than a second", () => {
  for (const [blockTimeMs, msMax] of [
    [1_000, 4_500],
    [5_000, 22_500],
    [200, 4_500],
  ] as const) {
    const { age, pass, decide } = open(blockTimeMs);
    assert.equal(age.isLate, true);
    pass(700);
    decide(blockTimeMs);
    assert.equal(age.isLate, false);
    pass(msMax - blockTimeMs);
    assert.equal(age.isLate, false);
    pass(1);
    assert.equal(age.isLate, true);
    decide(blockTimeMs);
    assert.equal(age.isLate, false);
  }
});

test("the age of a decided block counts its fraction of a second, that of one from before the start does not", () => {
  const { age, pass, decide } = open(1_000);
  assert.equal(age.ms, 60_000);
  pass(1_900);
  decide(1_000);
  assert.equal(age.ms, 1_000);
});
