import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, BOB, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { BlockPrunedError } from "../../../chain/store-errors.ts";
import { blockNumber } from "./blocks.ts";
import { accounts, chainId, coinbase, config, protocolVersion, syncing } from "./client.ts";

const modules = createTestModules();

test("eth_chainId, eth_blockNumber and eth_protocolVersion are QUANTITY", async () => {
  assert.equal(await chainId.call(modules), "0x539");
  assert.equal(await blockNumber.call(modules), "0x2");
  assert.equal(await protocolVersion.call(modules), "0x44");
});

test("eth_coinbase is who receives the fees, eth_accounts who can be signed for", async () => {
  assert.equal(await coinbase.call(modules), BOB);
  assert.deepEqual(await accounts.call(modules), [ALICE]);
});

test("eth_syncing is false, or how far the node has come", async () => {
  assert.equal(await syncing.call(modules), false);
  const syncProgress = { startingBlock: 0, currentBlock: 10, highestBlock: 255 };
  assert.deepEqual(await syncing.call(createTestModules({ info: { syncProgress } })), {
    startingBlock: "0x0",
    currentBlock: "0xa",
    highestBlock: "0xff",
  });
});

test("a method without parameters takes none", async () => {
  await assert.rejects(chainId.call(modules, ["latest"]), { code: "RPC_INVALID_PARAMS" });
});

test("eth_config is the same where block 0 is pruned", async () => {
  const reader = {
    header(number: number) {
      if (number === 0) throw new BlockPrunedError({ number, base: 2 });
      return modules.chain.header({ at: number });
    },
  } as never;
  assert.deepEqual(await config.call(createTestModules({ reader })), await config.call(modules));
});
