import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import type { ModuleRequest } from "../compiled-contracts/requested-modules.ts";
import { ExecutionThreads, type ExecutionThreadsOptions } from "./execution-threads.ts";
import type { ExecutionThreadData } from "./following-execution.ts";

const NO_CANCEL = { isAborted: false, signal: new AbortController().signal };
const MODULE = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));

describe("ExecutionThreads", () => {
  let threads: ExecutionThreads;
  const lost: (readonly [string, string | undefined])[] = [];
  const open = (options: Partial<ExecutionThreadsOptions> = {}) => {
    lost.length = 0;
    threads = new ExecutionThreads(
      {
        entry: "../test/support/node/calls/misbehave.thread",
        count: 1,
        waitingMax: 100,
        graceMs: 50,
        data: {} as ExecutionThreadData,
        compiler: undefined,
        epoch: () => 0,
        onLost: ({ reason }, method) => lost.push([reason, method]),
        ...options,
      },
      fatalTimers,
    );
  };
  const run = (behaviour: string, detail: unknown = 0, timeoutMs = 0, cancel = NO_CANCEL) =>
    threads.run({ method: "call", input: { behaviour, detail } }, { timeoutMs, cancel });
  afterEach(() => threads.close());

  for (const [behaviour, timeoutMs, reason, code] of [
    ["crash", 0, "crash", "EXECUTION_ABORTED"],
    ["loop", 50, "timeout", "EXECUTION_TIMEOUT"],
  ] as const) {
    test(`a thread that meets "${behaviour}" fails its request with ${code}`, async () => {
      open();
      await assert.rejects(run(behaviour, 0, timeoutMs), { code });
      assert.equal(await run("echo", 1), 1);
      assert.deepEqual(lost, [[reason, "call"]]);
    });
  }

  test("damage of the index that a thread meets is told to the owner of the store", async () => {
    const met: string[] = [];
    open({ onDamage: ({ message }) => met.push(message) });
    await assert.rejects(run("meet a damaged row"), { code: "STORE_CORRUPT_ROW" });
    assert.equal(await run("echo", 1), 1);
    assert.deepEqual(met, ["index row 01 is damaged"]);
  });

  test("a request whose caller gave up before its turn does not run", async () => {
    open();
    const first = run("echo", 1);
    const cancel = { ...NO_CANCEL, isAborted: true };
    await assert.rejects(Promise.all([first, run("crash", 0, 0, cancel)]), { code: "RPC_TIMEOUT" });
    assert.equal(await first, 1);
  });

  test("a thread receives the compiled contract it asks for, and what is dropped later", async () => {
    const requests: ModuleRequest[] = [];
    const listeners = new Set<(key: string) => void>();
    open({
      compiler: {
        async request(input) {
          requests.push(input);
          return { module: MODULE };
        },
        onDropped(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
    });
    const request = { hash: `0x${"ab".repeat(32)}`, code: Uint8Array.of(0), hardfork: "osaka" };
    assert.ok((await run("compile", request)) instanceof WebAssembly.Module);
    assert.deepEqual(requests, [request]);
    for (const listener of listeners) listener("osaka key");
    assert.deepEqual(await run("dropped"), ["osaka key"]);
    await threads.close();
    assert.equal(listeners.size, 0);
  });

  test("more requests than may wait are rejected", async () => {
    open({ waitingMax: 1 });
    const answers = [run("echo", 1), run("echo", 2)];
    await assert.rejects(run("echo", 3), { code: "RPC_TOO_MANY" });
    assert.deepEqual(await Promise.all(answers), [1, 2]);
  });

  test("an answer read before a rollback is thrown away, and the request runs again", async () => {
    const seen = new Int32Array(new SharedArrayBuffer(4));
    let asked = 0;
    open({
      epoch() {
        // The first answer comes after a rollback that its thread had not seen.
        if (asked++ === 0) Atomics.store(seen, 0, 1);
        return 1;
      },
    });
    assert.deepEqual(await run("echo", seen), seen);
    assert.equal(asked, 2);
  });

  test("close ends requests that run and wait", async () => {
    open();
    const outcomes = Promise.allSettled([run("loop"), run("echo", 1)]);
    await threads.close();
    for (const outcome of await outcomes) {
      assert.equal(outcome.status, "rejected");
      assert.equal(outcome.reason.code, "EXECUTION_ABORTED");
    }
    assert.deepEqual(lost, []);
  });
});
