import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fatalTimers } from "../telemetry/fatal-timers.ts";
import { Inbox, Outbox } from "./message-lists.ts";

function collecting(isAfterTurn: boolean) {
  const events: (readonly string[] | string)[] = [];
  return {
    events,
    outbox: new Outbox<string>((messages) => events.push(messages), fatalTimers, { isAfterTurn }),
  };
}

test("Outbox sends what was posted in one turn as one list, in order", async () => {
  const { events, outbox } = collecting(false);
  outbox.post("a");
  await Promise.resolve();
  outbox.post("b");
  await nextTurn();
  outbox.post("c");
  await nextTurn();
  assert.deepEqual(events, [["a", "b"], ["c"]]);
});

test("Outbox sends after work that an earlier or later part of the turn deferred to its end", async () => {
  const { events, outbox } = collecting(true);
  outbox.post("before");
  setImmediate(() => events.push("block"));
  outbox.post("after");
  await nextTurn();
  await nextTurn();
  assert.deepEqual(events, ["block", ["before", "after"]]);
});

test("Outbox does not send a message with an older list while work of its turn waits", async () => {
  const { events, outbox } = collecting(true);
  outbox.post("old");
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      // As of the next turn: the older list is about to leave.
      setImmediate(() => events.push("block"));
      outbox.post("new");
      resolve();
    });
  });
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  assert.deepEqual(events, [["old"], "block", ["new"]]);
});

test("Outbox flushes everything at once and sends nothing twice", async () => {
  for (const isAfterTurn of [false, true]) {
    const { events, outbox } = collecting(isAfterTurn);
    outbox.post("a");
    outbox.flush();
    outbox.flush();
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    assert.deepEqual(events, [["a"]]);
  }
});

type Received = { readonly kind: string; readonly id: number };

test("Inbox holds messages until somebody receives them", () => {
  const inbox = new Inbox<Received>(fatalTimers);
  inbox.receive([{ kind: "event", id: 1 }], "socket");
  const received: unknown[] = [];
  inbox.deliverTo((message, attached) => received.push([message.id, attached]));
  inbox.receive([{ kind: "call", id: 2 }]);
  assert.deepEqual(received, [
    [1, "socket"],
    [2, undefined],
  ]);
});

test("Inbox lets the code run that waits for an answer before an event that came after it, and loses no order", async () => {
  const inbox = new Inbox<Received>(fatalTimers);
  const received: (number | string)[] = [];
  inbox.deliverTo(({ kind, id }) => {
    received.push(id);
    if (kind === "result") {
      // What waits for an answer runs some promises later.
      void Promise.resolve()
        .then(() => {})
        .then(() => received.push(`after ${id}`));
    }
  });
  inbox.receive([
    { kind: "event", id: 1 },
    { kind: "result", id: 2 },
    { kind: "error", id: 3 },
    { kind: "event", id: 4 },
    { kind: "result", id: 5 },
    { kind: "event", id: 6 },
  ]);
  inbox.receive([{ kind: "call", id: 7 }]);
  assert.deepEqual(received, [1, 2, 3]);
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  assert.deepEqual(received, [1, 2, 3, "after 2", 4, 5, "after 5", 6, 7]);
});
