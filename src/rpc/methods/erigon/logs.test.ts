import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { getTransactionReceipt } from "../eth/transactions.ts";
import { getLatestLogs, getLogsByHash } from "./logs.ts";

const modules = createTestModules();

test("erigon_getLogsByHash has the logs of each receipt, and null for an unknown block", async () => {
  const { block } = modules.blocks[1]!;
  const receipts = await Promise.all(block.transactions.map(({ hash }) => getTransactionReceipt.call(modules, [hash])));
  const logs = receipts.map((receipt) => (receipt as { logs: object[] }).logs);
  assert.ok(logs.some(({ length }) => length > 0));
  assert.deepEqual(await getLogsByHash.call(modules, [block.hash]), logs);
  assert.equal(await getLogsByHash.call(modules, [`0x${"99".repeat(32)}`]), null);
});

test("erigon_getLatestLogs searches so many blocks at once that it parses a megabyte", async () => {
  const asked: number[] = [];
  const chain: typeof modules.chain = {
    ...modules.chain,
    logs(input) {
      asked.push(input.limits.bytesMax);
      return modules.chain.logs(input);
    },
  };
  await getLatestLogs.call({ ...modules, chain }, [{}, { logCount: 10 }]);
  assert.ok(asked.length > 0);
  assert.ok(Math.max(...asked) <= 1 << 20, String(asked));
});
