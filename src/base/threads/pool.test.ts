import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import type { Misbehaviours } from "../../../test/support/base/threads/misbehave.thread.ts";
import { until } from "../../../test/support/until.ts";
import { fatalTimers } from "../telemetry/fatal-timers.ts";
import { Pool, type PoolCallOptions, type PoolOptions, type ThreadLostError } from "./pool.ts";

describe("Pool", () => {
  let pool: Pool<Misbehaviours>;
  const lost: string[] = [];
  const open = (options: Partial<PoolOptions> = {}) => {
    lost.length = 0;
    pool = new Pool(
      {
        entry: "../test/support/base/threads/misbehave.thread",
        count: 1,
        waitingMax: 100,
        heapMegabytesMax: 64,
        onLost: ({ reason }: ThreadLostError) => lost.push(reason),
        ...options,
      },
      fatalTimers,
    );
  };
  const call = <Name extends keyof Misbehaviours & string>(
    name: Name,
    input?: Parameters<Misbehaviours[Name]>[0],
    options: Partial<PoolCallOptions> = {},
  ) => pool.call(name, input as never, { timeoutMs: 0, ...options });
  afterEach(() => pool.close());

  test("answers in order, starting no more threads than it may", async () => {
    open({ count: 2 });
    const answers = Array.from({ length: 10 }, (_, i) => call("echo", i));
    assert.equal(pool.busy, 2);
    assert.equal(pool.waiting, 8);
    assert.deepEqual(await Promise.all(answers), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(pool.busy, 0);
  });

  test("an error fails only its call, and the thread continues", async () => {
    open();
    const rejected = call("reject");
    const next = call("echo", 1);
    await assert.rejects(rejected, { name: "Rejected", message: "rejected" });
    assert.equal(await next, 1);
    assert.deepEqual(lost, []);
  });

  for (const [behaviour, timeoutMs, reason] of [
    ["crash", 0, "crash"],
    ["fill", 0, "crash"],
    ["loop", 50, "timeout"],
  ] as const) {
    test(`a thread that meets "${behaviour}" takes only that call with it`, async () => {
      open();
      const bad = call(behaviour, undefined, { timeoutMs });
      const next = call("echo", 1);
      await assert.rejects(bad, { code: "WORKER_TASK_FAILED", reason });
      assert.equal(await next, 1);
      assert.deepEqual(lost, [reason]);
    });
  }

  test("a thread continues with queued calls while its starter is busy, and idle threads get calls first", async () => {
    open({ count: 2, callsMax: 3 });
    const shared = new Int32Array(new SharedArrayBuffer(4));
    await Promise.all([call("echo", 0), call("echo", 0)]);
    const answers = Array.from({ length: 8 }, () => call("add", shared));
    assert.deepEqual([pool.busy, pool.waiting], [2, 2]);
    while (Atomics.load(shared, 0) < 6) Atomics.wait(shared, 0, Atomics.load(shared, 0), 1_000);
    await Promise.all(answers);
    assert.deepEqual([Atomics.load(shared, 0), pool.busy, pool.waiting], [8, 0, 0]);
  });

  test("queued calls of a lost thread move to another, each with its own deadline", async () => {
    open({ callsMax: 4 });
    const first = call("echo", 1);
    const bad = call("loop", undefined, { timeoutMs: 50 });
    const others = [call("echo", 2), call("crash"), call("echo", 3)];
    assert.equal(pool.waiting, 1);
    const outcomes = await Promise.allSettled([first, bad, ...others]);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : outcome.reason.reason)),
      [1, "timeout", 2, "crash", 3],
    );
    assert.deepEqual(lost, ["timeout", "crash"]);
  });

  test("an answer counts that arrives together with the end of its thread", async () => {
    open({ callsMax: 3 });
    const shared = new Int32Array(new SharedArrayBuffer(4));
    const outcomes = Promise.allSettled([call("add", shared), call("echo", 1), call("crash"), call("echo", 2)]);
    while (Atomics.load(shared, 0) === 0) Atomics.wait(shared, 0, 0, 1_000);
    Atomics.wait(shared, 0, 1, 300);
    assert.deepEqual(
      (await outcomes).map((outcome) => (outcome.status === "fulfilled" ? outcome.value : outcome.reason.reason)),
      [undefined, 1, "crash", 2],
    );
    assert.deepEqual(lost, ["crash"]);
  });

  test("close ends the calls in the queue of a thread", async () => {
    open({ callsMax: 2 });
    const outcomes = Promise.allSettled([call("loop"), call("echo", 1), call("echo", 2)]);
    await pool.close();
    for (const outcome of await outcomes) {
      assert.equal(outcome.status, "rejected");
      assert.equal(outcome.reason.reason, "closed");
    }
  });

  test("a call whose caller gave up before its turn does not run", async () => {
    open();
    const first = call("echo", 1);
    const cancel = { isAborted: true, signal: AbortSignal.abort() };
    const aborted = call("crash", undefined, { cancel });
    await assert.rejects(Promise.all([first, aborted]), { code: "WORKER_TASK_ABORTED" });
    assert.equal(await first, 1);
    assert.deepEqual(lost, []);
  });

  test("threads call functions of their starter, and receive events", async () => {
    open({ here: { answer: (question: string) => `${question}: yes` } });
    assert.equal(await call("ask", "who"), "who: yes");
    pool.emit("note", "first");
    assert.deepEqual(await call("received"), ["first"]);
  });

  test("is full while as many calls wait as may, without those that gave up", async () => {
    open({ waitingMax: 1 });
    const cancel = { isAborted: false, signal: new AbortController().signal };
    const answers = [call("echo", 1), call("echo", 2, { cancel })];
    assert.equal(pool.isFull(), true);
    cancel.isAborted = true;
    assert.equal(pool.isFull(), false);
    await assert.rejects(answers[1]!, { code: "WORKER_TASK_ABORTED" });
    assert.equal(await answers[0], 1);
  });

  test("a call whose answer is outdated runs again, and one that cannot be compared fails", async () => {
    open();
    const shared = new Int32Array(new SharedArrayBuffer(4));
    const isOutdated = (value: unknown) => Atomics.add(shared, 0, 1) === value && value === 0;
    assert.equal(await call("word", shared, { isOutdated }), 1);
    const damage = new Error("block log is damaged");
    const fails = () => {
      throw damage;
    };
    await assert.rejects(call("echo", 1, { isOutdated: fails }), damage);
    assert.equal(await call("echo", 2), 2);
    assert.deepEqual(lost, []);
  });

  test("a thread without calls ends, and the next call starts another", async () => {
    open({ idleMs: 1 });
    assert.equal(await call("echo", 1), 1);
    await until(() => !pool.isReady, "the end of the thread");
    assert.equal(await call("echo", 2), 2);
    assert.deepEqual(lost, []);
  });

  test("without idle time each call gets a new thread", async () => {
    open({ idleMs: 0 });
    pool.emit("note", "nobody is there");
    const noted = [call("note", "first"), call("received")];
    assert.deepEqual(await Promise.all(noted), [undefined, []]);
    assert.equal(pool.isReady, false);
  });

  test("close ends calls that run and wait, and later ones fail", async () => {
    open();
    const outcomes = Promise.allSettled([call("loop"), call("echo", 1)]);
    await pool.close();
    for (const outcome of await outcomes) {
      assert.equal(outcome.status, "rejected");
      assert.equal(outcome.reason.reason, "closed");
    }
    await assert.rejects(call("echo", 1), { reason: "closed" });
    assert.deepEqual(lost, []);
  });
});
