import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { bytesToHex, type Hex, hexToBytes } from "../../../base/primitives/hex.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import { encodeBlock } from "../../../base/types/block-codec.ts";
import { encodeReceipt } from "../../../base/types/receipt-codec.ts";
import { getRawBlock, getRawHeader, getRawReceipts, getRawTransaction } from "./raw.ts";

const modules = createTestModules();
const { block, receipts } = modules.blocks[1]!;

test("debug_getRawBlock and debug_getRawHeader are RLP, by every selector", async () => {
  for (const selector of ["0x1", block.hash, { blockHash: block.hash }]) {
    assert.equal(await getRawBlock.call(modules, [selector]), bytesToHex(encodeBlock(block)));
    const header = await getRawHeader.call(modules, [selector]);
    assert.equal(keccak256Hash(hexToBytes(header as Hex)), block.hash);
  }
});

test("debug_getRawReceipts lists the consensus encoding of each receipt", async () => {
  assert.deepEqual(
    await getRawReceipts.call(modules, ["0x1"]),
    receipts.map((receipt) => bytesToHex(encodeReceipt(receipt))),
  );
});

test("debug_getRaw*: an unknown number is empty, an unknown hash an error", async () => {
  assert.equal(await getRawBlock.call(modules, ["0x9"]), "0x");
  assert.equal(await getRawHeader.call(modules, ["0x9"]), "0x");
  assert.equal(await getRawReceipts.call(modules, ["0x9"]), null);
  assert.deepEqual(await getRawReceipts.call(modules, [ZERO_HASH]), []);
  for (const method of [getRawBlock, getRawHeader]) {
    await assert.rejects(method.call(modules, [ZERO_HASH]), { code: "RPC_UNKNOWN_BLOCK" });
  }
  assert.equal(await getRawTransaction.call(modules, [ZERO_HASH]), "0x");
});

test("debug_getRawBlock wants its number as hex", async () => {
  await assert.rejects(getRawBlock.call(modules, ["2"]), {
    code: "RPC_INVALID_PARAMS",
    message: "invalid argument 0: hex string without 0x prefix",
  });
});
