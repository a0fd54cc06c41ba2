import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../telemetry/testing/manual-timers.ts";
import { IN_A_ROW_MIN, LoopPolling } from "./loop-polling.ts";

/** A loop whose turns and time the test makes. */
function setup() {
  const timers = new ManualTimers({ holdsTurns: true });
  const polling = new LoopPolling(timers);
  return {
    polling,
    isAwake: () => timers.nextTurn.length > 0,
    turnAfter(milliseconds: number) {
      timers.jump(milliseconds);
      timers.turn();
    },
  };
}

const client = {};
const other = {};

/** So many requests of `client`, each 0.05 ms after the answer to the last. */
function exchange({ polling, turnAfter }: ReturnType<typeof setup>, count: number): void {
  for (let i = 0; i < count; i++) {
    polling.answered(client);
    turnAfter(0.05);
    polling.arrived(client);
  }
}

test("the loop stays awake after an answer whose client sends at once, and no longer than that takes", () => {
  const loop = setup();
  const { polling, isAwake, turnAfter } = loop;
  exchange(loop, IN_A_ROW_MIN - 1);
  polling.answered(client);
  assert.equal(isAwake(), false, "too few in a row");
  turnAfter(0.05);
  polling.arrived(client);
  polling.answered(client);
  assert.equal(isAwake(), true);
  turnAfter(0.06);
  assert.equal(isAwake(), true);
  turnAfter(0.06);
  assert.equal(isAwake(), false, "the client is late");
  turnAfter(1);
  polling.arrived(client);
  polling.answered(client);
  assert.equal(isAwake(), false, "it is not waited for again");
});

test("with several clients the loop sleeps", () => {
  const loop = setup();
  exchange(loop, IN_A_ROW_MIN);
  loop.polling.answered(client);
  loop.turnAfter(0.01);
  loop.polling.arrived(other);
  loop.turnAfter(0.01);
  loop.polling.answered(other);
  assert.equal(loop.isAwake(), false);
});

test("the loop may sleep while a request runs, and looks for the next one in one chain of turns", () => {
  const loop = setup();
  const { polling, isAwake, turnAfter } = loop;
  exchange(loop, IN_A_ROW_MIN);
  polling.answered(client);
  polling.answered(client);
  turnAfter(0.02);
  polling.arrived(client);
  turnAfter(0.01);
  assert.equal(isAwake(), false);
  polling.answered(client);
  assert.equal(isAwake(), true);
});
