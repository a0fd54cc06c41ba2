import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import {
  getRawTransactionByBlockHashAndIndex,
  getRawTransactionByBlockNumberAndIndex,
  getRawTransactionByHash,
} from "./transactions.ts";

const modules = createTestModules();
const { block } = modules.blocks[1]!;

test("raw transactions are the canonical encoding, by hash and by place", async () => {
  for (const [index, tx] of block.transactions.entries()) {
    const raw = bytesToHex(tx.raw);
    const at = `0x${index}`;
    assert.equal(await getRawTransactionByHash.call(modules, [tx.hash]), raw);
    assert.equal(await getRawTransactionByBlockHashAndIndex.call(modules, [block.hash, at]), raw);
    assert.equal(await getRawTransactionByBlockNumberAndIndex.call(modules, ["0x1", at]), raw);
  }
  const [pooled] = modules.pooled;
  assert.equal(await getRawTransactionByHash.call(modules, [pooled!.tx.hash]), bytesToHex(pooled!.tx.raw));
});

test("a raw transaction that is not there is 0x", async () => {
  assert.equal(await getRawTransactionByHash.call(modules, [ZERO_HASH]), "0x");
  assert.equal(await getRawTransactionByBlockHashAndIndex.call(modules, [block.hash, "0x9"]), "0x");
  assert.equal(await getRawTransactionByBlockNumberAndIndex.call(modules, ["0x9", "0x0"]), "0x");
});
