import assert from "node:assert/strict";
import { test } from "node:test";
import { OPERATIONS, type Operation, operationsOf, startCountedNode } from "../support/call-counts.ts";

const WARM_UP = 20;
const RUNS = 20;

/**
 * Calls of functions that each operation may need, and different functions, in the lower quartile of its runs: some per cent above what
 * `npm run bench -- calls` counts. A new process runs most of them for the first time, which is what its users wait for. Lower a bound with the work that lowers a count.
 */
const BOUNDS: Readonly<Record<Operation, { readonly calls: number; readonly functions: number }>> = {
  "transfer, block and receipt": { calls: 2_570, functions: 970 },
  "contract creation": { calls: 5_300, functions: 1_250 },
  eth_call: { calls: 660, functions: 360 },
  eth_estimateGas: { calls: 1_680, functions: 388 },
  eth_getTransactionReceipt: { calls: 365, functions: 222 },
  evm_snapshot: { calls: 420, functions: 252 },
  evm_revert: { calls: 2_250, functions: 565 },
};
/** Until the first answer, with what Node.js itself calls, and with the warm-up that follows: a slow client gets the answer after it. */
const START = { calls: 84_000, functions: 4_500 };

/** A timer of the node may fire in any one run, and on a busy machine in most of them. */
function lowerQuartile(counts: readonly number[]): number {
  return counts.toSorted((a, b) => a - b)[counts.length >> 2]!;
}

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
      const calls: number[] = [];
      const functions: number[] = [];
      for (let i = 0; i < RUNS; i++) {
        await prepare?.();
        await node.take();
        await run();
        const counts = await node.take();
        calls.push(counts.calls);
        functions.push(counts.functions);
      }
      const bound = BOUNDS[operation];
      const counted = { calls: lowerQuartile(calls), functions: lowerQuartile(functions) };
      if (counted.calls > bound.calls || counted.functions > bound.functions) {
        above.push(`${operation}: ${counted.calls} calls of ${counted.functions} functions`);
      }
    }
    assert.deepEqual(above, []);
  } finally {
    await node.stop();
  }
});
