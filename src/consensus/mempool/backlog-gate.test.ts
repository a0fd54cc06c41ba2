import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { createMetrics } from "../../base/telemetry/metrics.ts";
import { BacklogGate, NetworkBehindError } from "./backlog-gate.ts";

const BLOCK_MS = 1_000;
const STEP_MS = 100;

/** A gate beside a pool and a clock that the test sets. */
function setup() {
  const outside = { waiting: 0 };
  const timers = new ManualTimers();
  const gate = new BacklogGate(
    { blockTimeMs: BLOCK_MS },
    { waiting: () => outside.waiting, timers, metrics: createMetrics() },
  );
  const isOpen = (from: "caller" | "peer" = "caller") => {
    try {
      gate.assertOpen(from);
      return true;
    } catch (error) {
      assert.ok(error instanceof NetworkBehindError);
      return false;
    }
  };
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += STEP_MS) timers.advanceSync(STEP_MS);
  };
  /** A block after `ms`. */
  const block = (ms: number, transactions = 0) => {
    pass(ms);
    gate.committed(transactions);
  };
  return { outside, timers, gate, isOpen, pass, block };
}

test("while blocks are in time nothing is put off, however much waits", () => {
  const { outside, isOpen, pass, block } = setup();
  for (let i = 0; i < 10; i++) block(BLOCK_MS, 1);
  outside.waiting = 100_000;
  assert.equal(isOpen(), true);
  pass(1_400);
  assert.equal(isOpen(), true);
});

test("while a block is late, no more waits than blocks take soon; of peers four times as much", () => {
  const { outside, isOpen, pass, block } = setup();
  for (let i = 0; i < 9; i++) block(BLOCK_MS, 500);
  pass(1_600);
  // 4,000 transactions in 9.6 s.
  outside.waiting = 832;
  assert.equal(isOpen(), true);
  outside.waiting = 834;
  assert.equal(isOpen(), false);
  assert.equal(isOpen("peer"), true);
  outside.waiting = 3_334;
  assert.equal(isOpen("peer"), false);
});

test("some transactions may wait on a network that stands still", () => {
  const { outside, isOpen, pass } = setup();
  pass(60_000);
  outside.waiting = 127;
  assert.equal(isOpen(), true);
  outside.waiting = 128;
  assert.equal(isOpen(), false);
});

test("after a late block the limit holds for ten blocks in time", () => {
  const { outside, isOpen, block } = setup();
  block(5_000);
  outside.waiting = 5_000;
  for (let i = 0; i < 10; i++) {
    assert.equal(isOpen(), false);
    block(BLOCK_MS);
  }
  assert.equal(isOpen(), true);
});

test("the error says when to send again: once blocks have taken the excess", () => {
  const { outside, gate, pass, block } = setup();
  for (let i = 0; i < 9; i++) block(BLOCK_MS, 100);
  pass(2_000);
  const retryAfterMs = (waiting: number) => {
    outside.waiting = waiting;
    let error: unknown;
    assert.throws(
      () => gate.assertOpen("caller"),
      (thrown) => {
        error = thrown;
        return thrown instanceof NetworkBehindError;
      },
    );
    return (error as NetworkBehindError).details["data"];
  };
  assert.deepEqual(retryAfterMs(170), { retryAfterMs: 1_000 });
  assert.deepEqual(retryAfterMs(560), { retryAfterMs: 5_000 });
  assert.deepEqual(retryAfterMs(1_000_000), { retryAfterMs: 30_000 });
  // The pace of blocks that had nothing to take is not known, and it is not that of a network that stands still.
  for (let i = 0; i < 9; i++) block(BLOCK_MS);
  assert.deepEqual(retryAfterMs(128), { retryAfterMs: 1_000 });
  assert.deepEqual(retryAfterMs(384), { retryAfterMs: 4_000 });
});

test("a process that runs its timers late puts off too", () => {
  const { outside, timers, isOpen } = setup();
  outside.waiting = 1_000;
  assert.equal(isOpen(), true);
  // The timer of 100 ms has not run.
  timers.jump(600);
  assert.equal(isOpen(), false);
  timers.advanceSync(0);
  assert.equal(isOpen(), false);
  timers.advanceSync(100);
  assert.equal(isOpen(), true);
});
