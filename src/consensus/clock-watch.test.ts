import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { SILENT_LOGGER } from "../base/telemetry/logger.ts";
import { createMetrics } from "../base/telemetry/metrics.ts";
import { type ClockStop, type ClockWatchOptions, createClockWatch, openClockStopFile } from "./clock-watch.ts";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);

function memoryClockStop(): ClockStop {
  let stored: number | undefined;
  return {
    read: () => stored,
    write(wallClockMs) {
      stored = wallClockMs;
    },
    clear() {
      stored = undefined;
    },
  };
}

function watchOf(
  options: Partial<ClockWatchOptions> & {
    readonly head?: number;
    readonly start?: number;
    readonly clockStop?: ClockStop;
  } = {},
) {
  const { head, start = START, clockStop = memoryClockStop(), ...rest } = options;
  const clock = { wall: start, monotonic: 5 };
  const metrics = createMetrics();
  const watch = createClockWatch({ forwardJumpMsMax: HOUR, isAccepted: false, ...rest }, head, {
    wallClock: () => clock.wall,
    monotonicClock: () => clock.monotonic,
    log: SILENT_LOGGER,
    metrics,
    clockStop,
  });
  return {
    watch,
    /** Lets time pass on both clocks, and sets the wall clock on by `jump`. */
    pass(milliseconds: number, jump = 0) {
      clock.wall += milliseconds + jump;
      clock.monotonic += milliseconds;
      watch.check();
    },
    now: () => clock.wall,
    count(kind: string) {
      const line = new RegExp(`evmint_clock_jumps_total\\{kind="${kind}"\\} (\\d+)`);
      return Number(line.exec(metrics.exposition())?.[1] ?? 0);
    },
  };
}

test("a clock that runs, drifts or is disciplined is believed", () => {
  const { watch, pass, now, count } = watchOf({ head: START / 1000 - 10 });
  for (let i = 0; i < 1_000; i++) pass(10_000, i % 2 ? 14_999 : -14_999);
  pass(30 * 24 * HOUR);
  assert.equal(watch.now(), now());
  assert.deepEqual(["forward", "backward", "behind_head", "implausible"].map(count), [0, 0, 0, 0]);
});

test("a jump of more than 15 s is counted, and followed", () => {
  const { watch, pass, now, count } = watchOf();
  pass(10_000, 15_001);
  pass(10_000, -15_001);
  pass(10_000, HOUR);
  pass(10_000, -50 * HOUR);
  assert.equal(watch.now(), now());
  assert.deepEqual(["forward", "backward"].map(count), [2, 2]);
});

test("a forward jump of more than the limit stops blocks until the clock is right again", () => {
  const { watch, pass, now, count } = watchOf();
  pass(10_000, 80 * 365 * 24 * HOUR);
  assert.equal(watch.problem()?.code, "CLOCK_JUMP");
  for (let i = 0; i < 10; i++) pass(10_000);
  assert.throws(() => watch.now(), { code: "CLOCK_JUMP" });
  assert.deepEqual(["forward", "implausible"].map(count), [0, 1]);
  pass(10_000, -80 * 365 * 24 * HOUR);
  assert.equal(watch.problem(), undefined);
  assert.equal(watch.now(), now());

  pass(10_000, HOUR + 1);
  assert.equal(watch.problem()?.code, "CLOCK_JUMP");
  pass(10_000, 2 * HOUR);
  assert.equal(count("forward"), 1);
  pass(10_000, -3 * HOUR - 1);
  assert.equal(watch.now(), now());
});

test("an accepted clock is followed wherever it jumps, and counted once for each jump", () => {
  const { watch, pass, now, count } = watchOf({ isAccepted: true });
  pass(10_000, 2 * HOUR);
  pass(10_000);
  assert.equal(watch.now(), now());
  pass(10_000, 80 * 365 * 24 * HOUR);
  for (let i = 0; i < 10; i++) pass(10_000);
  assert.equal(watch.now(), now());
  assert.deepEqual(["forward", "implausible"].map(count), [1, 1]);
});

test("at start a head ahead of the clock is counted, an old head is normal, and a clock after 2099 stops blocks", () => {
  assert.equal(watchOf({ head: START / 1000 + 61 }).count("behind_head"), 1);
  assert.equal(watchOf({ head: START / 1000 + 59 }).count("behind_head"), 0);
  const old = watchOf({ head: START / 1000 - 7 * 86_400 });
  assert.equal(old.watch.now(), START);
  const wrong = watchOf({ start: Date.UTC(2106, 0, 1) });
  assert.throws(() => wrong.watch.now(), { code: "CLOCK_JUMP" });
});

test("a restart confirms nothing: blocks stay stopped until the clock is set right or accepted", () => {
  const directory = mkdtempSync(join(tmpdir(), "evmint-clock-"));
  try {
    const clockStop = openClockStopFile(join(directory, "clock-stopped"));
    const jumped = START + 2 * HOUR + 10_000;
    const first = watchOf({ clockStop });
    first.pass(10_000, 2 * HOUR);
    assert.equal(first.watch.problem()?.code, "CLOCK_JUMP");

    const restarted = watchOf({ clockStop, start: jumped + 60_000 });
    restarted.pass(10_000);
    assert.throws(() => restarted.watch.now(), { code: "CLOCK_JUMP" });
    assert.equal(restarted.count("forward"), 1);
    restarted.pass(10_000, -2 * HOUR);
    assert.equal(restarted.watch.problem(), undefined);
    assert.equal(watchOf({ clockStop, start: jumped }).watch.problem(), undefined);

    clockStop.write(jumped);
    const setRight = watchOf({ clockStop, start: START + 120_000 });
    assert.equal(setRight.watch.now(), START + 120_000);
    assert.equal(clockStop.read(), undefined);

    clockStop.write(jumped);
    assert.equal(watchOf({ clockStop, start: jumped, isAccepted: true }).watch.now(), jumped);
    assert.equal(clockStop.read(), undefined);

    writeFileSync(join(directory, "clock-stopped"), "not a number");
    assert.equal(watchOf({ clockStop }).watch.problem()?.code, "CLOCK_JUMP");
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("a jump stops blocks also where the stop cannot be stored", () => {
  const clockStop = {
    ...memoryClockStop(),
    write() {
      throw new Error("no space left");
    },
  };
  const { watch, pass } = watchOf({ clockStop });
  pass(10_000, 2 * HOUR);
  assert.equal(watch.problem()?.code, "CLOCK_JUMP");
});
