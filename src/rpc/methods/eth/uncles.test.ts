import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import {
  getUncleByBlockHashAndIndex,
  getUncleByBlockNumberAndIndex,
  getUncleCountByBlockHash,
  getUncleCountByBlockNumber,
} from "./blocks.ts";

const modules = createTestModules();
const [genesis, first] = modules.blocks;

test("a block of our own has no uncles; an unknown one has no count", async () => {
  const { hash } = first!.block;
  assert.equal(await getUncleCountByBlockHash.call(modules, [hash]), "0x0");
  assert.equal(await getUncleCountByBlockNumber.call(modules, ["latest"]), "0x0");
  assert.equal(await getUncleCountByBlockHash.call(modules, [ZERO_HASH]), null);
  assert.equal(await getUncleCountByBlockNumber.call(modules, ["0x9"]), null);
  assert.equal(await getUncleByBlockHashAndIndex.call(modules, [hash, "0x0"]), null);
  assert.equal(await getUncleByBlockNumberAndIndex.call(modules, ["0x9", "0x0"]), null);
});

test("an imported block's uncle is its header with the size of a block that holds nothing", async () => {
  const header = { ...first!.block.header, sha3Uncles: ZERO_HASH };
  const executed = { ...first!, block: { ...first!.block, header, uncles: [genesis!.block.header] } };
  const imported = createTestModules({ reader: { header: () => header, blockInSlices: () => executed } });
  const params = ["0x1", "0x0"];
  const uncle = (await getUncleByBlockNumberAndIndex.call(imported, params)) as Record<string, unknown>;
  assert.equal(uncle["hash"], genesis!.block.hash);
  assert.deepEqual(uncle["uncles"], []);
  assert.ok(!("transactions" in uncle) && "size" in uncle);
  assert.equal(await getUncleCountByBlockNumber.call(imported, ["0x1"]), "0x1");
  assert.equal(await getUncleByBlockNumberAndIndex.call(imported, ["0x1", "0x1"]), null);
});
