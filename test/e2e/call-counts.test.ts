import assert from "node:assert/strict";
import { test } from "node:test";
import { OPERATIONS, type Operation, operationsOf, startCountedNode } from "../support/call-counts.ts";

const WARM_UP = 20;
const RUNS = 20;

/**
 * Calls of functions that each operation may need on average, and different functions in all its runs: some per cent above what `npm run bench -- calls`
 * counts. A new process runs most of them for the first time, which is what its users wait for. Lower a bound with the work that lowers a count.
 */
const BOUNDS: Readonly<Record<Operation, { readonly calls: number; readonly functions: number }>> = {
  "transfer, block and receipt": { calls: 7_000, functions: 1_320 },
  "contract creation": { calls: 10_250, functions: 1_530 },
  eth_call: { calls: 710, functions: 420 },
  eth_estimateGas: { calls: 1_780, functions: 430 },
  eth_getTransactionReceipt: { calls: 380, functions: 265 },
  evm_snapshot: { calls: 460, functions: 305 },
  evm_revert: { calls: 6_250, functions: 660 },
};
/** Until the first answer, with what Node.js itself calls. */
const START = { calls: 122_000, functions: 3_640 };

/** Node.js is in the counts, and calls other functions of its own in each version. */
const skip = /^v20\./.test(process.version) ? false : "counted on Node.js 20";

test("operations of a dev chain call no more functions than they did", { skip }, async () => {
  const node = await startCountedNode("start", "--dev", "--port", "0", "--log.level", "error");
  try {
    await node.call("eth_chainId", []);
    const start = await node.take();
    const above =
      start.calls > START.calls || start.functions > START.functions
        ? [`start: ${start.calls} ${start.functions}`]
        : [];
    const operations = operationsOf(node);
    for (const operation of OPERATIONS) {
      const { prepare, run } = operations[operation];
      for (let i = 0; i < WARM_UP; i++) {
        await prepare?.();
        await run();
      }
      let calls = 0;
      const functions = new Set<string>();
      for (let i = 0; i < RUNS; i++) {
        await prepare?.();
        await node.take();
        await run();
        const counts = await node.take();
        calls += counts.calls;
        for (const { name } of counts.hottest) functions.add(name);
      }
      const bound = BOUNDS[operation];
      const average = Math.round(calls / RUNS);
      if (average > bound.calls || functions.size > bound.functions) {
        above.push(`${operation}: ${average} calls of ${functions.size} functions`);
      }
    }
    assert.deepEqual(above, []);
  } finally {
    await node.stop();
  }
});
