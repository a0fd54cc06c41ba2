import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { getBlockReceipts } from "./blocks.ts";
import { getTransactionLogs, getTransactionReceipt } from "./transactions.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
type Json = Record<string, any>;
const modules = createTestModules();
const [genesis, first] = modules.blocks;

test("eth_getBlockReceipts lists every receipt, each as eth_getTransactionReceipt gives it", async () => {
  const receipts = (await getBlockReceipts.call(modules, ["0x1"])) as Json[];
  assert.equal(receipts.length, 5);
  for (const [index, { hash }] of first!.block.transactions.entries()) {
    assert.deepEqual(receipts[index], await getTransactionReceipt.call(modules, [hash]));
  }
});

test("a receipt has geth's members; log indexes count through the block", async () => {
  const receipts = (await getBlockReceipts.call(modules, [first!.block.hash])) as Json[];
  const [legacy, , creation, blob] = receipts as [Json, Json, Json, Json];
  assert.deepEqual(Object.keys(legacy).sort(), [
    "blockHash",
    "blockNumber",
    "contractAddress",
    "cumulativeGasUsed",
    "effectiveGasPrice",
    "from",
    "gasUsed",
    "logs",
    "logsBloom",
    "status",
    "to",
    "transactionHash",
    "transactionIndex",
    "type",
  ]);
  assert.deepEqual([legacy["contractAddress"], legacy["status"]], [null, "0x1"]);
  assert.deepEqual([creation["contractAddress"], creation["to"]], [CONTRACT, null]);
  assert.deepEqual([blob["blobGasUsed"], blob["blobGasPrice"]], ["0x20000", "0x1"]);
  assert.deepEqual(
    receipts.flatMap(({ logs }) => logs.map((log: Json) => log["logIndex"])),
    ["0x0", "0x1", "0x2", "0x3", "0x4", "0x5", "0x6", "0x7", "0x8", "0x9"],
  );
  assert.deepEqual(creation["logs"][1], {
    address: CONTRACT,
    topics: [],
    data: "0x0102",
    blockNumber: "0x1",
    transactionHash: first!.block.transactions[2]!.hash,
    transactionIndex: "0x2",
    blockHash: first!.block.hash,
    blockTimestamp: "0x3e9",
    logIndex: "0x5",
    removed: false,
  });
});

test("a receipt from before Byzantium has its state root instead of a status", async () => {
  const receipts = first!.receipts.map(({ status: _status, ...rest }) => ({
    ...rest,
    postState: ZERO_HASH,
  }));
  const reader = { blockInSlices: () => ({ ...first!, receipts }) };
  const [receipt] = (await getBlockReceipts.call(createTestModules({ reader }), ["0x1"])) as [Json];
  assert.equal(receipt["root"], ZERO_HASH);
  assert.ok(!("status" in receipt));
});

test("eth_getBlockReceipts: none for an empty block, null for an unknown one, some for pending", async () => {
  assert.deepEqual(await getBlockReceipts.call(modules, [genesis!.block.hash]), []);
  assert.deepEqual(await getBlockReceipts.call(modules, ["earliest"]), []);
  assert.equal(await getBlockReceipts.call(modules, ["0x9"]), null);
  assert.equal(await getBlockReceipts.call(modules, [ZERO_HASH]), null);
  assert.equal(((await getBlockReceipts.call(modules, ["pending"])) as Json[]).length, 1);
  await assert.rejects(getBlockReceipts.call(modules, []), { details: { param: "block" } });
});

test("eth_getTransactionReceipt is null for a transaction that is not mined", async () => {
  assert.equal(await getTransactionReceipt.call(modules, [ZERO_HASH]), null);
  assert.equal(await getTransactionReceipt.call(modules, [modules.pooled[0]!.tx.hash]), null);
});

test("eth_getTransactionLogs has the logs of the receipt, and is null for a transaction that is not mined", async () => {
  const { transactions } = modules.blocks[1]!.block;
  const lengths = await Promise.all(
    transactions.map(async ({ hash }) => {
      const { logs } = (await getTransactionReceipt.call(modules, [hash])) as { logs: object[] };
      assert.deepEqual(await getTransactionLogs.call(modules, [hash]), logs);
      return logs.length;
    }),
  );
  assert.ok(
    lengths.every((length) => length > 0),
    String(lengths),
  );
  assert.equal(await getTransactionLogs.call(modules, [modules.pooled[0]!.tx.hash]), null);
  await assert.rejects(getTransactionLogs.call(modules, ["0x1"]), { code: "RPC_INVALID_PARAMS" });
});
