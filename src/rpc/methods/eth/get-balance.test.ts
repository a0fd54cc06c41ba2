import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, BOB, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { getBalance } from "./state.ts";

const modules = createTestModules();

test("eth_getBalance is 0x0 for an account never touched", async () => {
  assert.equal(await getBalance.call(modules, [BOB]), "0x0");
});

test("eth_getBalance reads the state after the block that is named, in every form", async () => {
  const { hash } = modules.blocks[1]!.block;
  for (const [block, balance] of [
    [undefined, "0x2"],
    [null, "0x2"],
    ["latest", "0x2"],
    ["safe", "0x2"],
    ["finalized", "0x2"],
    ["earliest", "0x0"],
    ["pending", "0x3"],
    ["0x1", "0x1"],
    [hash, "0x1"],
    [{ blockHash: hash }, "0x1"],
    [{ blockHash: hash, requireCanonical: true }, "0x1"],
    [{ blockNumber: "0x1" }, "0x1"],
    [{ blockNumber: "latest" }, "0x2"],
  ]) {
    const params = block === undefined ? [ALICE] : [ALICE, block];
    assert.equal(await getBalance.call(modules, params), balance, JSON.stringify(block));
  }
});

test("eth_getBalance takes an address in any letter case", async () => {
  assert.equal(await getBalance.call(modules, [`0X${ALICE.slice(2).toUpperCase()}`]), "0x2");
});

test("eth_getBalance refuses a block that is not there", async () => {
  for (const block of ["0x3", "0x7fffffffffffffff", ZERO_HASH, { blockHash: ZERO_HASH }]) {
    await assert.rejects(getBalance.call(modules, [ALICE, block]), { code: "RPC_UNKNOWN_BLOCK" });
  }
});

test("eth_getBalance refuses a known block off the canonical chain only when told to", async () => {
  const [genesis, side] = modules.blocks;
  const { chain } = createTestModules({
    reader: { blockHash: () => genesis!.block.hash, header: () => side!.block.header },
  });
  const selector = { blockHash: side!.block.hash };
  assert.equal(await getBalance.call({ chain }, [ALICE, selector]), "0x1");
  await assert.rejects(getBalance.call({ chain }, [ALICE, { ...selector, requireCanonical: true }]), {
    code: "RPC_BLOCK_NOT_CANONICAL",
  });
});

test("eth_getBalance names the parameter it could not read", async () => {
  await assert.rejects(getBalance.call(modules, ["0x00"]), {
    code: "RPC_INVALID_PARAMS",
    details: { param: "account" },
  });
  for (const block of [5, "0x", "0x01", "latests", "ff", true, [], {}]) {
    await assert.rejects(getBalance.call(modules, [ALICE, block]), {
      details: { param: "block" },
    });
  }
});
