import assert from "node:assert/strict";
import { test } from "node:test";
import { DeferredTask } from "./background-work.ts";

/** A task of `pieces` pieces whose deferred work is run by hand. */
function createTask(pieces: number) {
  const state = { left: pieces, canRun: true, failsAt: -1, failures: [] as unknown[] };
  const deferred: (() => void)[] = [];
  const task = new DeferredTask({
    defer: (work) => deferred.push(work),
    isNeeded: () => state.left > 0,
    canRun: () => state.canRun,
    work() {
      if (state.left === state.failsAt) throw new RangeError();
      state.left--;
    },
    onFailure: (error) => state.failures.push(error),
  });
  return { state, deferred, task };
}

test("runs one piece at a time until nothing is needed, and is deferred once however often it is scheduled", () => {
  const { state, deferred, task } = createTask(3);
  for (let i = 0; i < 5; i++) task.schedule();
  for (let left = 2; left >= 0; left--) {
    assert.equal(deferred.length, 1);
    deferred.shift()!();
    assert.equal(state.left, left);
  }
  task.schedule();
  assert.equal(deferred.length, 0);
});

test("ends where it cannot run, and goes on when it is scheduled again", () => {
  const { state, deferred, task } = createTask(2);
  state.canRun = false;
  task.schedule();
  deferred.shift()!();
  assert.deepEqual([state.left, deferred.length], [2, 0]);
  state.canRun = true;
  task.schedule();
  deferred.shift()!();
  assert.deepEqual([state.left, deferred.length], [1, 1]);
});

test("hands a failure to its owner and ends", () => {
  const { state, deferred, task } = createTask(3);
  state.failsAt = 2;
  task.schedule();
  deferred.shift()!();
  deferred.shift()!();
  assert.equal(state.failures.length, 1);
  assert.ok(state.failures[0] instanceof RangeError);
  assert.equal(deferred.length, 0);
});
