import assert from "node:assert/strict";
import { test } from "node:test";
import { LoopPolling } from "./loop-polling.ts";

/** A loop whose turns and time the test makes. */
function setup() {
  let now = 0;
  let next: (() => void) | undefined;
  const polling = new LoopPolling({ now: () => now, nextTurn: (look) => (next = look) });
  return {
    polling,
    isAwake: () => next !== undefined,
    turnAfter(milliseconds: number) {
      now += milliseconds;
      const look = next;
      next = undefined;
      look?.();
    },
  };
}

/** So many requests, each 0.05 ms after the answer to the last; four are enough in a row. */
function exchange({ polling, turnAfter }: ReturnType<typeof setup>, count: number): void {
  for (let i = 0; i < count; i++) {
    polling.answered(1);
    turnAfter(0.05);
    polling.arrived();
  }
}

test("the loop stays awake after an answer whose client sends at once, and no longer than that takes", () => {
  const loop = setup();
  const { polling, isAwake, turnAfter } = loop;
  exchange(loop, 3);
  polling.answered(1);
  assert.equal(isAwake(), false, "too few in a row");
  turnAfter(0.05);
  polling.arrived();
  polling.answered(1);
  assert.equal(isAwake(), true);
  turnAfter(0.06);
  assert.equal(isAwake(), true);
  turnAfter(0.06);
  assert.equal(isAwake(), false, "the client is late");
  turnAfter(1);
  polling.arrived();
  polling.answered(1);
  assert.equal(isAwake(), false, "it is not waited for again");
});

test("with several clients the loop sleeps", () => {
  const loop = setup();
  exchange(loop, 4);
  loop.polling.answered(1);
  loop.turnAfter(0.01);
  loop.polling.arrived();
  loop.turnAfter(0.01);
  loop.polling.answered(2);
  assert.equal(loop.isAwake(), false);
});

test("the loop may sleep while a request runs, and looks for the next one in one chain of turns", () => {
  const loop = setup();
  const { polling, isAwake, turnAfter } = loop;
  exchange(loop, 4);
  polling.answered(1);
  polling.answered(1);
  turnAfter(0.02);
  polling.arrived();
  turnAfter(0.01);
  assert.equal(isAwake(), false);
  polling.answered(1);
  assert.equal(isAwake(), true);
});
