import assert from "node:assert/strict";
import { test } from "node:test";
import type { TraceRequest } from "../../rpc/ports/execution.ts";
import type { ExecutionCore } from "../adapters/execution-port.ts";
import { admittedExecution } from "./admission.ts";
import type { ExecutionThreads } from "./execution-threads.ts";

class RanHereError extends Error {}

/** Threads that answer at once beside a chain that cannot be read: what runs on this thread throws. */
function execution(isReady: boolean) {
  const reader = new Proxy({} as ExecutionCore["reader"], {
    get() {
      throw new RanHereError();
    },
  });
  const threads = {
    pool: { isReady, isSaturated: false, warmUp() {} },
    run: () => "from a thread",
  } as unknown as ExecutionThreads;
  const limits = {
    gasCap: 0n,
    timeoutMs: 5_000,
    memoryBytesMax: 1 << 20,
    returnBytesMax: 1 << 20,
    trace: {
      timeoutMs: 5_000,
      timeoutMsMax: 60_000,
      bytesMax: 1 << 20,
      scriptMemoryBytesMax: 1 << 20,
    },
  };
  const core: ExecutionCore = {
    reader,
    execution: {} as ExecutionCore["execution"],
    store: {} as ExecutionCore["store"],
  };
  const modules = { suggestTip: () => 0n, threads, isLocal: () => false };
  return admittedExecution(limits, core, modules);
}

const trace = (isReady: boolean, request: TraceRequest) =>
  execution(isReady).traceCall({ args: {}, at: "latest", request });

test("a trace that shows memory is not tried on the chain's thread while another is ready", () => {
  assert.equal(trace(true, { enableMemory: true }), "from a thread");
  assert.throws(() => trace(true, { enableMemory: false }), RanHereError);
  assert.throws(() => trace(true, {}), RanHereError);
});

test("a trace that shows memory begins on the chain's thread while no other is ready", () => {
  assert.throws(() => trace(false, { enableMemory: true }), RanHereError);
});
