import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { blockNumber, getHeaderByNumber } from "./blocks.ts";

const modules = createTestModules();

test("erigon_getHeaderByNumber and erigon_blockNumber take a JSON number, a QUANTITY or a tag", async () => {
  const head = modules.blocks.length - 1;
  for (const block of [1, "0x1"]) {
    const header = (await getHeaderByNumber.call(modules, [block])) as { hash: string };
    assert.equal(header.hash, modules.blocks[1]!.block.hash, String(block));
    assert.equal(await blockNumber.call(modules, [block]), "0x1");
  }
  assert.equal(await blockNumber.call(modules, ["latest"]), `0x${head.toString(16)}`);
  assert.equal(await getHeaderByNumber.call(modules, [head + 1]), null);
  for (const wrong of [-1, 1.5, true, "1"]) {
    await assert.rejects(getHeaderByNumber.call(modules, [wrong]), { code: "RPC_INVALID_PARAMS" }, String(wrong));
  }
});
