import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { type CallOwner, CallQueue } from "./call-queue.ts";

/** Longer than the slice after which others have their turn. */
const LONG_MS = 12;

function createQueue(waitingMax = 100) {
  const waiting: number[] = [];
  const announced: string[] = [];
  const timers = new ManualTimers();
  const queue = new CallQueue(
    {
      waitingMax,
      onWaiting: (count) => waiting.push(count),
      beforeWork({ isLong }) {
        if (isLong) announced.push("long work");
      },
    },
    timers,
  );
  /** Work on this thread that takes so long. */
  const spin = (milliseconds: number) => timers.jump(milliseconds);
  return { queue, waiting, announced, spin };
}

const owner = (connection?: object): CallOwner => ({ connection, isAborted: false });

test("CallQueue runs short work at once, and its failure is the caller's", () => {
  const { queue, waiting } = createQueue();
  for (let i = 0; i < 100; i++)
    assert.equal(
      queue.run(owner(), () => i),
      i,
    );
  assert.throws(() =>
    queue.run(owner(), () => {
      throw new TypeError("no");
    }),
  );
  assert.deepEqual(waiting, []);
});

test("CallQueue announces calls after one that took long, and no others", async () => {
  const { queue, announced, spin } = createQueue();
  queue.run(owner(), () => announced.push("short"));
  queue.run(owner(), () => {
    spin(LONG_MS);
    announced.push("long");
  });
  await queue.run(owner(), () => announced.push("next"));
  await queue.run(owner(), () => announced.push("last"));
  assert.deepEqual(announced, ["short", "long", "long work", "next", "long work", "last"]);
});

test("CallQueue announces no short calls some time after a long one", async () => {
  const { queue, announced, spin } = createQueue();
  queue.run(owner(), () => spin(LONG_MS));
  for (let i = 0; i < 1_000; i++) await queue.run(owner(), () => i);
  announced.length = 0;
  await queue.run(owner(), () => "short");
  assert.deepEqual(announced, []);
});

test("CallQueue leaves the turn to others between long works", async () => {
  const { queue, spin } = createQueue();
  const order: string[] = [];
  const long = (name: string) => () => {
    spin(LONG_MS);
    order.push(name);
  };
  queue.run(owner(), long("first"));
  const second = queue.run(owner(), long("second"));
  const third = queue.run(owner(), long("third"));
  globalThis.setImmediate(() => order.push("others"));
  assert.deepEqual(order, ["first"]);
  await Promise.all([second, third]);
  assert.deepEqual(order, ["first", "second", "others", "third"]);
});

test("CallQueue serves callers in turn, however much one of them asks for", async () => {
  const { queue, spin } = createQueue();
  const order: string[] = [];
  const greedy = {};
  const work = (name: string) => () => {
    spin(LONG_MS);
    order.push(name);
  };
  queue.run(owner(greedy), work("greedy"));
  const done = ["greedy", "greedy", "greedy"].map((name) => queue.run(owner(greedy), work(name)));
  done.push(queue.run(owner(), work("modest")));
  await Promise.all(done);
  assert.deepEqual(order, ["greedy", "greedy", "modest", "greedy", "greedy"]);
});

test("CallQueue refuses what is beyond its limit, and says how many wait", async () => {
  const { queue, waiting, spin } = createQueue(2);
  queue.run(owner(), () => spin(LONG_MS));
  const done = [1, 2].map(() => queue.run(owner(), () => {}));
  assert.throws(() => queue.run(owner(), () => {}), { code: "RPC_TOO_MANY" });
  await Promise.all(done);
  assert.deepEqual(waiting, [1, 2, 1, 0]);
  assert.equal(
    queue.run(owner(), () => "again"),
    "again",
  );
});

test("CallQueue does not run what nobody waits for any more", async () => {
  const { queue, spin } = createQueue();
  const gone = { connection: undefined, isAborted: false };
  queue.run(owner(), () => spin(LONG_MS));
  const never = queue.run(gone, () => assert.fail("it ran"));
  gone.isAborted = true;
  await assert.rejects(async () => never, { code: "RPC_TIMEOUT" });
});

test("CallQueue starts one work a round when what it does cannot be seen", async () => {
  const { queue } = createQueue();
  const order: number[] = [];
  const works = [1, 2, 3].map((i) =>
    queue.run(owner(), async () => {
      await setImmediate();
      order.push(i);
    }),
  );
  assert.deepEqual(order, []);
  await Promise.all(works);
  assert.deepEqual(order, [1, 2, 3]);
});

test("CallQueue runs four calls of one caller elsewhere at a time, in order, and any number of others", async () => {
  const { queue } = createQueue(1_000);
  const callers = [{}, {}, {}];
  const running = [0, 0, 0];
  const started: number[][] = [[], [], []];
  const ends: (() => void)[] = [];
  let most = 0;
  const answers: (number | Promise<number>)[] = [];
  for (let i = 0; i < 60; i++) {
    const at = i % 3;
    const call = () => {
      started[at]!.push(i);
      running[at]!++;
      most = Math.max(most, running[at]!);
      return new Promise<number>((resolve, reject) => {
        ends.push(() => {
          running[at]!--;
          if (i % 5 === 0) reject(new TypeError("no"));
          else resolve(i);
        });
      });
    };
    answers.push(queue.run(owner(callers[at]), call));
  }
  const outcomes = Promise.allSettled(answers);
  for (let turns = 0; turns < 100_000 && started.flat().length < 60; turns++) {
    await setImmediate();
    // From the last to the first, so that the order of ends is not that of starts.
    if (turns % 3 === 0) ends.pop()?.();
  }
  for (const end of ends.splice(0)) end();
  const expected = Array.from({ length: 60 }, (_, i) => (i % 5 === 0 ? "rejected" : "fulfilled"));
  assert.deepEqual(
    (await outcomes).map(({ status }) => status),
    expected,
  );
  assert.equal(most, 4);
  for (const [at, order] of started.entries()) {
    assert.deepEqual(
      order,
      Array.from({ length: 20 }, (_, i) => 3 * i + at),
    );
  }
});
