import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { getBlockTransactionCountByHash, getBlockTransactionCountByNumber } from "./blocks.ts";

test("transaction counts are QUANTITY, null for an unknown block", async () => {
  const modules = createTestModules();
  const { hash } = modules.blocks[1]!.block;
  assert.equal(await getBlockTransactionCountByNumber.call(modules, ["0x1"]), "0x5");
  assert.equal(await getBlockTransactionCountByNumber.call(modules, ["earliest"]), "0x0");
  assert.equal(await getBlockTransactionCountByNumber.call(modules, ["0x9"]), null);
  assert.equal(await getBlockTransactionCountByHash.call(modules, [hash]), "0x5");
  assert.equal(await getBlockTransactionCountByHash.call(modules, [ZERO_HASH]), null);
});
