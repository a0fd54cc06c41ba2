import assert from "node:assert/strict";
import { test } from "node:test";
import { InvariantError } from "../../errors.ts";
import type { Connection } from "../dispatch/context.ts";
import { Notifier } from "./notifier.ts";
import { Subscriber } from "./subscriber.ts";

function subscribers(count: number, told: string[]): Subscriber[] {
  return Array.from({ length: count }, (_, i) => {
    const connection: Connection = {
      notify: (json) => told.push(`${i} ${JSON.parse(json).params.result}`),
      onClose() {},
    };
    const subscriber = new Subscriber("eth", `0x${i + 1}`, connection);
    subscriber.release();
    return subscriber;
  });
}

test("notices to many go out in order, a part in each turn", () => {
  const turns: (() => void)[] = [];
  const told: string[] = [];
  const notifier = new Notifier({
    defer: (work) => turns.push(work),
    onError: (error) => assert.fail(String(error)),
  });
  const list = subscribers(700, told);
  notifier.publish(list, '"a"');
  notifier.publish(list, '"b"');
  assert.deepEqual([told.length, turns.length], [0, 1]);
  turns.shift()!();
  assert.deepEqual([told.length, turns.length], [500, 1]);
  list[699]!.end();
  while (turns.length > 0) turns.shift()!();
  const expected = ["a", "b"].flatMap((result) =>
    Array.from({ length: 699 }, (_, i) => `${i} ${result}`),
  );
  assert.deepEqual(told, expected);
});

test("more notices than may wait are sent at once", () => {
  const told: string[] = [];
  const notifier = new Notifier({
    defer: () => {},
    onError: (error) => assert.fail(String(error)),
  });
  const list = subscribers(1_000, told);
  for (let i = 0; i < 500; i++) notifier.publish(list, "1");
  assert.equal(told.length, 0);
  notifier.publish(list, "2");
  assert.equal(told.length, 501_000);
});

test("a connection that fails does not keep others from being told", () => {
  const told: string[] = [];
  const errors: unknown[] = [];
  const notifier = new Notifier({
    defer: (work) => work(),
    onError: (error) => errors.push(error),
  });
  const broken = new Subscriber("eth", "0x9", {
    notify() {
      throw new Error("broken");
    },
    onClose() {},
  });
  broken.release();
  notifier.publish([broken, ...subscribers(1, told)], '"a"');
  assert.deepEqual([errors.length, told], [1, ["0 a"]]);
});

test("a notice that is not ASCII is a bug of whoever publishes it", () => {
  const notifier = new Notifier({ defer: () => {}, onError: () => {} });
  const list = subscribers(1, []);
  for (const text of ['"é"', '"\u0080"', '"日本"']) {
    assert.throws(() => notifier.publish(list, text), InvariantError);
  }
});
