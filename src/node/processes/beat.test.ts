import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { Beat } from "./beat.ts";

const LIMITS = { beatMs: 1_000, silentBeats: 9, lostBeats: 14, startMs: 60_000, openMs: 1_000 };

function watched() {
  const timers = new ManualTimers();
  const seen: string[] = [];
  const waiting: (() => void)[] = [];
  let isRunning = true;
  const beat = new Beat(LIMITS, {
    timers,
    ask: () => new Promise<void>((resolve) => (isRunning ? resolve() : waiting.push(resolve))),
    onSilent: () => seen.push("silent"),
    onAnswer: () => seen.push("answers"),
    onLost: () => seen.push("lost"),
  });
  return {
    timers,
    beat,
    seen,
    stop() {
      isRunning = false;
    },
    goOn() {
      isRunning = true;
      for (const answer of waiting.splice(0)) answer();
    },
  };
}

test("Beat: a process that answers is never silent", async () => {
  const { timers, beat, seen } = watched();
  await timers.advance(600_000);
  assert.deepEqual([beat.isSilent, seen], [false, []]);
});

test("Beat: a stopped process is silent after ten seconds at most and lost after fifteen", async () => {
  const { timers, beat, seen, stop } = watched();
  await timers.advance(5_000);
  stop();
  await timers.advance(9_000);
  assert.deepEqual([beat.isSilent, seen], [false, []]);
  await timers.advance(1_000);
  assert.deepEqual([beat.isSilent, seen], [true, ["silent"]]);
  await timers.advance(4_000);
  assert.deepEqual(seen, ["silent"]);
  await timers.advance(1_000);
  assert.deepEqual(seen, ["silent", "lost"]);
  assert.deepEqual(timers.waiting, []);
});

test("Beat: a process that answers again begins anew", async () => {
  const { timers, beat, seen, stop, goOn } = watched();
  stop();
  await timers.advance(12_000);
  goOn();
  await timers.advance(1_000);
  assert.deepEqual([beat.isSilent, seen], [false, ["silent", "answers"]]);
  stop();
  await timers.advance(9_000);
  assert.equal(beat.isSilent, false);
});

test("Beat: the time in which this process was stopped itself counts as one beat", async () => {
  const { timers, beat, seen, stop, goOn } = watched();
  await timers.advance(1_000);
  stop();
  await timers.advance(1_000);
  timers.jump(600_000);
  await timers.advance(1);
  assert.deepEqual([beat.isSilent, seen], [false, []]);
  goOn();
  await timers.advance(20_000);
  assert.deepEqual(seen, []);
});
