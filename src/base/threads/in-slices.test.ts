import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { allAtOnce, inSlices, StepWork } from "./in-slices.ts";
import { SharedSlices } from "./shared-slices.ts";

/** Slices of 3 ms of a clock that only `work` moves. */
function createClock() {
  const timers = new ManualTimers();
  const slices = new SharedSlices(timers, { sliceMs: 3 });
  function* work(steps: number, log: string[] = [], name = ""): Generator<undefined, string> {
    for (let step = 0; step < steps; step++) {
      timers.jump(1);
      log.push(name);
      yield;
    }
    return `${name} done`;
  }
  return { slices, work };
}

test("inSlices gives the result in this turn where one slice is enough", () => {
  const { slices, work } = createClock();
  assert.equal(inSlices(work(2, [], "short"), slices), "short done");
});

test("inSlices lets others run between slices, and all who share them get no more than one slice a turn", async () => {
  const { slices, work } = createClock();
  const log: string[] = [];
  let isEnded = false;
  const turns: number[] = [];
  const count = () => {
    turns.push(log.length);
    if (!isEnded) setImmediate(count);
  };
  setImmediate(count);
  const both = [inSlices(work(9, log, "a"), slices), inSlices(work(9, log, "b"), slices)];
  assert.deepEqual(await Promise.all(both), ["a done", "b done"]);
  isEnded = true;
  assert.equal(log.length, 18);
  for (const [i, steps] of turns.entries()) assert.ok(steps - (turns[i - 1] ?? 0) <= 4, `${turns}`);
});

test("inSlices throws errors of the first slice and rejects with errors of later steps", async () => {
  const { slices, work } = createClock();
  function* failing(steps: number): Generator<undefined, never> {
    yield* work(steps);
    throw new RangeError("step");
  }
  assert.throws(() => inSlices(failing(1), slices), RangeError);
  await assert.rejects(async () => inSlices(failing(20), slices), RangeError);
});

test("allAtOnce gives the result of every step", () => {
  assert.equal(allAtOnce(createClock().work(20, [], "long")), "long done");
});

test("StepWork ends a step after sixteen small items, one of 128 KB, or some of each", () => {
  const step = (bytes: number, items?: number) => {
    const work = new StepWork();
    let count = 1;
    while (!work.add(bytes, items)) count++;
    return count;
  };
  assert.deepEqual([step(0), step(120 << 10), step(56 << 10), step(8 << 10, 0), step(0, 1 / 64)], [16, 1, 2, 16, 1024]);
});
