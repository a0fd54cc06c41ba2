import assert from "node:assert/strict";
import { test } from "node:test";
import { BOB, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { traceCallMany } from "./trace-transactions.ts";

const modules = createTestModules();

test("debug_traceCallMany gives a list of traces for each bundle", async () => {
  const bundles = [{ transactions: [{ to: BOB }, { to: BOB }] }, {}];
  assert.deepEqual(await traceCallMany.call(modules, [bundles]), [[{}, {}], []]);
  const context = { blockNumber: "0x1", transactionIndex: -1 };
  const config = { tracer: "callTracer" };
  assert.deepEqual(await traceCallMany.call(modules, [bundles, context, config]), [[{}, {}], []]);
});

test("debug_traceCallMany rejects what cannot be traced", async () => {
  for (const params of [
    [],
    ["x"],
    [[{ transactions: 5 }]],
    [[], { blockNumber: 5 }],
    [[], { transactionIndex: -2 }],
    [[], null, 5],
  ]) {
    await assert.rejects(traceCallMany.call(modules, params), { code: "RPC_INVALID_PARAMS" });
  }
  await assert.rejects(traceCallMany.call(modules, [[], { blockNumber: "pending" }]), {
    code: "TRACE_NOT_TRACEABLE",
  });
  const transactions = new Array(10_001).fill({ to: BOB });
  await assert.rejects(traceCallMany.call(modules, [[{ transactions }]]), {
    code: "RPC_LIMIT_EXCEEDED",
  });
});
