import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { TooManyError } from "../../rpc/transport/errors.ts";
import {
  ExecutionThreads,
  type ExecutionThreadsOptions,
  type ThreadLoss,
} from "./execution-threads.ts";
import type { ModuleRequest } from "./requested-modules.ts";

const NO_CANCEL = { isAborted: false, signal: new AbortController().signal };

describe("ExecutionThreads", () => {
  let threads: ExecutionThreads;
  const lost: ThreadLoss[] = [];
  const open = (options: Partial<ExecutionThreadsOptions> = {}) => {
    lost.length = 0;
    threads = new ExecutionThreads({
      ...{ entry: "testing/misbehave", data: undefined, count: 1, waitingMax: 100 },
      ...{ heapMegabytesMax: 64, idleMs: 60_000, graceMs: 50, epoch: () => 0 },
      onLost: (reason) => lost.push(reason),
      ...options,
    });
  };
  const run = (behaviour: string, detail: unknown = 0, timeoutMs = 0, cancel = NO_CANCEL) =>
    threads.run({ method: "call", args: [behaviour, detail], timeoutMs, cancel });
  afterEach(() => threads.close());

  test("answers in order, starting no more threads than it may", async () => {
    open({ count: 2 });
    const answers = Array.from({ length: 10 }, (_, i) => run("echo", i));
    assert.equal(threads.busy, 2);
    assert.equal(threads.waiting, 8);
    assert.deepEqual(await Promise.all(answers), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(threads.busy, 0);
  });

  test("an error of a request is its own, and its thread goes on", async () => {
    open();
    const rejected = run("reject");
    const next = run("echo", 1);
    await assert.rejects(rejected, { name: "Rejected" });
    assert.equal(await next, 1);
    assert.deepEqual(lost, []);
  });

  for (const [behaviour, timeoutMs, reason, code] of [
    ["crash", 0, "crash", "EXECUTION_ABORTED"],
    ["fill", 0, "crash", "EXECUTION_ABORTED"],
    ["loop", 50, "timeout", "EXECUTION_TIMEOUT"],
  ] as const) {
    test(`a thread that meets "${behaviour}" takes only that request with it`, async () => {
      open();
      const bad = run(behaviour, 0, timeoutMs);
      const next = run("echo", 1);
      await assert.rejects(bad, { code });
      assert.equal(await next, 1);
      assert.deepEqual(lost, [reason]);
    });
  }

  test("a request whose caller gave up before its turn does not run", async () => {
    open();
    const first = run("echo", 1);
    const cancel = { ...NO_CANCEL, isAborted: true };
    await assert.rejects(Promise.all([first, run("crash", 0, 0, cancel)]), { code: "RPC_TIMEOUT" });
    assert.equal(await first, 1);
    assert.deepEqual(lost, []);
  });

  test("a thread that asks for a compiled contract receives it, and what is dropped later", async () => {
    const requests: ModuleRequest[] = [];
    const listeners = new Set<(key: string) => void>();
    open({
      compiler: {
        async request(input) {
          requests.push(input);
          return { module: new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)) };
        },
        onDropped(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
    });
    const request = { hash: `0x${"ab".repeat(32)}`, code: Uint8Array.of(0), hardfork: "osaka" };
    await run("compile", request);
    const key = `osaka ${request.hash}`;
    assert.deepEqual(await run("received"), [`module ${key}`]);
    assert.deepEqual(requests, [request]);
    for (const listener of listeners) listener(key);
    assert.deepEqual(await run("received"), [`module ${key}`, `dropped ${key}`]);
    await threads.close();
    assert.equal(listeners.size, 0);
  });

  test("more requests than may wait are rejected", async () => {
    open({ waitingMax: 1 });
    const answers = [run("echo", 1), run("echo", 2)];
    assert.throws(() => run("echo", 3), TooManyError);
    assert.deepEqual(await Promise.all(answers), [1, 2]);
  });

  test("an answer read before a rollback is thrown away, and the request runs again", async () => {
    const buffer = new SharedArrayBuffer(4);
    const seen = new Int32Array(buffer);
    let asked = 0;
    open({
      epoch() {
        // The first answer comes after a rollback that its thread had not seen.
        if (asked++ === 0) Atomics.store(seen, 0, 1);
        return 1;
      },
    });
    assert.deepEqual(await run("echo", { epoch: buffer }), { epoch: buffer });
    assert.equal(asked, 2);
  });

  test("a request whose answer cannot be compared with the store fails, and its thread goes on", async () => {
    const damage = new Error("block log is damaged");
    let isDamaged = true;
    open({
      epoch() {
        if (isDamaged) throw damage;
        return 0;
      },
    });
    await assert.rejects(run("echo", 1), damage);
    isDamaged = false;
    assert.equal(await run("echo", 2), 2);
    assert.deepEqual(lost, []);
  });

  test("a thread without requests ends, and the next request starts another", async () => {
    open({ idleMs: 1 });
    assert.equal(await run("echo", 1), 1);
    while (threads.isReady) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await run("echo", 2), 2);
    assert.deepEqual(lost, []);
  });

  test("close ends requests that run and wait", async () => {
    open();
    const outcomes = Promise.allSettled([run("loop"), run("echo", 1)]);
    await threads.close();
    for (const outcome of await outcomes) {
      assert.equal(outcome.status, "rejected");
      assert.equal(outcome.reason.code, "EXECUTION_ABORTED");
    }
  });
});
