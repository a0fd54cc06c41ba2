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

const client = {};
const other = {};

/** Requests that come 0.05 ms after the answer to the last: enough in a row. */
function exchange({ polling, turnAfter }: ReturnType<typeof setup>, clients: readonly object[]): void {
  for (const each of clients) {
    polling.answered(each);
    turnAfter(0.05);
    polling.arrived(each);
  }
}

test("the loop stays awake after an answer whose client sends at once, and no longer than that takes", () => {
  const loop = setup();
  const { polling, isAwake, turnAfter } = loop;
  exchange(loop, [client, client, client]);
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
  exchange(loop, [client, client, client, client]);
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
  exchange(loop, [client, client, client, client]);
  polling.answered(client);
  polling.answered(client);
  turnAfter(0.02);
  polling.arrived(client);
  turnAfter(0.01);
  assert.equal(isAwake(), false);
  polling.answered(client);
  assert.equal(isAwake(), true);
});
