import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import {
  getTransactionByBlockHashAndIndex,
  getTransactionByBlockNumberAndIndex,
  getTransactionByHash,
  getTransactionbyBlockNumberAndIndex,
} from "./transactions.ts";

type Json = Record<string, unknown>;
const modules = createTestModules();
const { block } = modules.blocks[1]!;

test("a mined transaction is the same by hash and by place", async () => {
  const index = "0x2";
  const byHash = await getTransactionByHash.call(modules, [block.transactions[2]!.hash]);
  assert.equal((byHash as Json)["transactionIndex"], index);
  for (const same of [
    await getTransactionByBlockHashAndIndex.call(modules, [block.hash, index]),
    await getTransactionByBlockNumberAndIndex.call(modules, ["0x1", index]),
    await getTransactionbyBlockNumberAndIndex.call(modules, ["0x1", index]),
  ]) {
    assert.deepEqual(same, byHash);
  }
});

test("a pooled transaction, queued ones too, has no place and shows its highest price", async () => {
  for (const { tx } of modules.pooled) {
    const json = (await getTransactionByHash.call(modules, [tx.hash])) as Json;
    for (const place of ["blockHash", "blockNumber", "blockTimestamp", "transactionIndex"]) {
      assert.equal(json[place], null);
    }
    assert.equal(json["gasPrice"], json["maxFeePerGas"]);
    assert.equal(json["from"], ALICE);
  }
});

test("a transaction that is not there is null", async () => {
  assert.equal(await getTransactionByHash.call(modules, [ZERO_HASH]), null);
  for (const params of [
    [block.hash, "0x5"],
    [block.hash, "0xffffffffffffffff"],
    [ZERO_HASH, "0x0"],
  ]) {
    assert.equal(await getTransactionByBlockHashAndIndex.call(modules, params), null);
  }
  assert.equal(await getTransactionByBlockNumberAndIndex.call(modules, ["0x1", "0x5"]), null);
  assert.equal(await getTransactionByBlockNumberAndIndex.call(modules, ["0x9", "0x0"]), null);
});

test("the misspelt name is a method of its own", () => {
  assert.equal(getTransactionbyBlockNumberAndIndex.name, "eth_getTransactionbyBlockNumberAndIndex");
});
