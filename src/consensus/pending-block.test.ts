import assert from "node:assert/strict";
import { test } from "node:test";
import { createBlockBuilder } from "../execution/block/build-block.ts";
import { account, alice, allocWith, testChain, transactionOf } from "../execution/testing/factories.ts";
import { Mempool } from "../mempool/mempool.ts";
import { WITHDRAWAL_REQUEST_ADDRESS } from "../params/gas.ts";
import { SILENT_LOGGER } from "../telemetry/logger.ts";
import { createPendingBlocks } from "./pending-block.ts";

function pendingOn({ genesis, modules, state }: ReturnType<typeof testChain>) {
  const { header, hash } = genesis;
  const { config } = modules;
  const block = { hash, header, transactions: [], uncles: [] };
  const mempool = new Mempool({}, { config, head: { header, state }, now: () => 0 });
  let built = 0;
  const pending = createPendingBlocks(
    { gasLimitTarget: () => header.gasLimit, minimumTip: () => 0n },
    {
      chain: { config, head: () => ({ block, senders: [], receipts: [] }) },
      mempool,
      beginBlock(attributes) {
        built++;
        return createBlockBuilder(genesis, attributes, modules);
      },
      nextTimestamp: () => header.timestamp + 1,
      setAside(failure) {
        throw failure;
      },
      log: SILENT_LOGGER,
    },
  );
  return { pending, mempool, built: () => built };
}

test("createPendingBlocks builds once until the pool changes", () => {
  const { pending, mempool, built } = pendingOn(testChain());
  assert.equal(pending()?.executed.block.transactions.length, 0);
  assert.equal(pending(), pending());
  assert.equal(built(), 1);
  const tx = transactionOf();
  mempool.add({ tx, sender: alice });
  assert.equal(pending()?.executed.block.transactions[0]?.hash, tx.hash);
  assert.equal(built(), 2);
});

test("createPendingBlocks gives nothing, and tries once, where a system contract is missing", () => {
  const chain = testChain(allocWith("0x", [[WITHDRAWAL_REQUEST_ADDRESS, account()]]));
  const { pending, built } = pendingOn(chain);
  assert.equal(pending(), undefined);
  assert.equal(pending(), undefined);
  assert.equal(built(), 1);
});
