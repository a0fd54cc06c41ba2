import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { InvariantError } from "../../../base/errors.ts";
import type { Connection } from "../../transport/dispatch/context.ts";
import { Audience } from "./audience.ts";
import { Notifier } from "./notifier.ts";
import { Subscriber } from "./subscriber.ts";

/** One connection; every write is an entry of `writes`: the results it carried, by subscription. */
function connect(name: string, writes: string[][]) {
  const subscribers: Subscriber[] = [];
  const connection: Connection = {
    notify(messages) {
      writes.push(
        messages.map((message) => {
          const { subscription, result } = JSON.parse(message).params;
          return `${name}${subscription} ${result}`;
        }),
      );
    },
    deliver: async () => {},
    overrun() {
      writes.push([`${name} overrun`]);
      for (const subscriber of subscribers) subscriber.end();
    },
    onClose() {},
  };
  return (id: string) => {
    const subscriber = new Subscriber("eth", id, connection);
    subscriber.release();
    subscribers.push(subscriber);
    return subscriber;
  };
}

function setup(options: { readonly queueCharsMax?: number; readonly msPerSend?: number } = {}) {
  const timers = new ManualTimers({ holdsTurns: true, msPerLook: options.msPerSend ?? 0 });
  const errors: unknown[] = [];
  const notifier = new Notifier(
    { queueCharsMax: options.queueCharsMax ?? 1_000_000, onError: (error) => errors.push(error) },
    timers,
  );
  const runAll = () => {
    while (timers.turn() > 0);
  };
  return { notifier, timers, errors, runAll };
}

test("the notifications of one connection are one write, in the order of their events", () => {
  const { notifier, runAll } = setup();
  const writes: string[][] = [];
  const [a, b] = [connect("a", writes), connect("b", writes)];
  const audience = new Audience();
  for (const subscriber of [a("1"), b("1"), a("2")]) audience.add(subscriber);
  notifier.publish(audience, '"x"');
  notifier.publish(audience, '"y"');
  runAll();
  assert.deepEqual(writes, [
    ["a1 x", "a2 x", "a1 y", "a2 y"],
    ["b1 x", "b1 y"],
  ]);
  assert.equal(notifier.waitingChars, 0);
});

test("a slice of the event loop is left after 5 ms, whatever is published", () => {
  const { notifier, timers } = setup({ msPerSend: 2 });
  const writes: string[][] = [];
  const audience = new Audience();
  for (let i = 0; i < 9; i++) audience.add(connect(String(i), writes)("s"));
  notifier.publish(audience, "1");
  assert.deepEqual([writes.length, timers.nextTurn.length], [0, 1]);
  const sent: number[] = [];
  while (timers.turn() > 0) sent.push(writes.length);
  assert.deepEqual(sent, [3, 6, 9]);
});

test("subscribers added later do not get an event, removed ones get none", () => {
  const { notifier, runAll } = setup();
  const writes: string[][] = [];
  const client = connect("a", writes);
  const audience = new Audience();
  audience.add(client("1"));
  const second = client("2");
  audience.add(second);
  notifier.publish(audience, '"x"');
  audience.add(client("3"));
  second.end();
  runAll();
  assert.deepEqual(writes, [["a1 x"]]);
});

test("work that publishes runs in its place, a step in each slice if need be", () => {
  const { notifier, timers, runAll } = setup({ msPerSend: 10 });
  const writes: string[][] = [];
  const audience = new Audience();
  audience.add(connect("a", writes)("1"));
  function* work(name: string) {
    notifier.publish(audience, `"${name}1"`);
    yield;
    notifier.publish(audience, `"${name}2"`);
  }
  notifier.run(work("x"));
  notifier.run(work("y"));
  timers.turn();
  assert.equal(writes.length, 0);
  runAll();
  assert.deepEqual(writes.flat(), ["a1 x1", "a1 x2", "a1 y1", "a1 y2"]);
});

test("a queue beyond its limit closes the connection with the most subscribers, beyond twice that all", () => {
  const { notifier, runAll } = setup({ queueCharsMax: 100 });
  const writes: string[][] = [];
  const [small, large] = [connect("s", writes), connect("l", writes)];
  const audience = new Audience();
  for (const subscriber of [small("1"), large("1"), large("2")]) audience.add(subscriber);
  const result = JSON.stringify("x".repeat(58));
  notifier.publish(audience, result);
  assert.deepEqual(writes, []);
  notifier.publish(audience, result);
  assert.deepEqual(writes, [["l overrun"]]);
  notifier.publish(audience, JSON.stringify("x".repeat(200)));
  assert.deepEqual(writes.slice(1), [["s overrun"], ["l overrun"]]);
  runAll();
  assert.equal(notifier.waitingChars, 0);
});

test("a connection that throws does not keep others from their notifications", () => {
  const { notifier, errors, runAll } = setup();
  const writes: string[][] = [];
  const faulty = new Subscriber("eth", "0x9", {
    notify() {
      throw new Error("broken");
    },
    deliver: async () => {},
    overrun() {},
    onClose() {},
  });
  faulty.release();
  const audience = new Audience();
  audience.add(faulty);
  audience.add(connect("a", writes)("1"));
  notifier.publish(audience, '"x"');
  runAll();
  assert.deepEqual([errors.length, writes], [1, [["a1 x"]]]);
});

test("a result that is not ASCII is a bug of its publisher, and is not sent", () => {
  for (const text of ['"é"', '"\u0080"', '"日本"']) {
    const { notifier, errors, runAll } = setup();
    const writes: string[][] = [];
    const audience = new Audience();
    audience.add(connect("a", writes)("1"));
    assert.throws(() => notifier.publish(audience, text), InvariantError);
    notifier.publish(audience, () => text);
    runAll();
    assert.ok(errors[0] instanceof InvariantError);
    assert.deepEqual(writes, []);
  }
});

test("a subscriber that is never released is closed before its notifications fill the memory", () => {
  let overruns = 0;
  const subscriber = new Subscriber("eth", "0x1", {
    notify() {},
    deliver: async () => {},
    overrun() {
      overruns++;
    },
    onClose() {},
  });
  for (let i = 0; i < 1000; i++) subscriber.message("1");
  assert.equal(overruns, 0);
  subscriber.message("1");
  assert.equal(overruns, 1);
});
