import assert from "node:assert/strict";
import { test } from "node:test";
import { STRICT_LOGGER } from "../../test/support/base/telemetry/strict-logger.ts";
import { account, alice, allocWith, testChain, transactionOf } from "../../test/support/evm/execution/factories.ts";
import { WITHDRAWAL_REQUEST_ADDRESS } from "../base/params/gas.ts";
import { createBlockBuilder } from "../evm/execution/block/build-block.ts";
import { Mempool } from "./mempool/mempool.ts";
import { PendingBlocks } from "./pending-block.ts";

/** Milliseconds that a build takes. */
const BUILD_MS = 100;

function pendingOn({ genesis, modules, state }: ReturnType<typeof testChain>, { alwaysCurrent = false } = {}) {
  const { header, hash } = genesis;
  const { config } = modules;
  const block = { hash, header, transactions: [], uncles: [] };
  const mempool = new Mempool({}, { config, head: { header, state }, now: () => 0 });
  const clock = { ms: 0 };
  let built = 0;
  const blocks = new PendingBlocks(
    { gasLimitTarget: () => header.gasLimit, minimumTip: () => 0n, alwaysCurrent },
    {
      chain: { config, head: () => ({ block, senders: [], receipts: [] }) },
      mempool,
      beginBlock(attributes) {
        built++;
        clock.ms += BUILD_MS;
        return createBlockBuilder(genesis, attributes, modules);
      },
      nextTimestamp: () => header.timestamp + 1,
      setAside(failure) {
        throw failure;
      },
      now: () => clock.ms,
      log: STRICT_LOGGER,
    },
  );
  return { pending: () => blocks.current(), mempool, clock, built: () => built };
}

test("a pending block is built once until the pool changes", () => {
  const { pending, mempool, built } = pendingOn(testChain());
  assert.equal(pending()?.executed.block.transactions.length, 0);
  assert.equal(pending(), pending());
  assert.equal(built(), 1);
  const tx = transactionOf();
  mempool.add({ tx, sender: alice });
  assert.equal(pending()?.executed.block.transactions[0]?.hash, tx.hash);
  assert.equal(built(), 2);
});

test("there is no pending block, and one attempt to build it, where a system contract is missing", () => {
  const chain = testChain(allocWith("0x", [[WITHDRAWAL_REQUEST_ADDRESS, account()]]));
  const { pending, built } = pendingOn(chain);
  assert.equal(pending(), undefined);
  assert.equal(pending(), undefined);
  assert.equal(built(), 1);
});

/** Looks at the pending block after each of so many transactions, 25 ms apart; how many of them it had. */
function seen({ pending, mempool, clock }: ReturnType<typeof pendingOn>, count: number): readonly number[] {
  return Array.from({ length: count }, (_, nonce) => {
    mempool.add({ tx: transactionOf({ nonce: BigInt(nonce) }), sender: alice });
    clock.ms += 25;
    return pending()!.executed.block.transactions.length;
  });
}

test("pending blocks of a changing pool take a fifth of the time, and are at most two seconds old", () => {
  const chain = pendingOn(testChain());
  const lengths = seen(chain, 120);
  assert.deepEqual(lengths.slice(0, 3), [1, 2, 3], "the first ones are current");
  assert.ok(
    chain.built() * BUILD_MS <= 200 + 0.2 * chain.clock.ms + BUILD_MS,
    `${chain.built()} built in ${chain.clock.ms} ms`,
  );
  for (const [i, length] of lengths.entries()) {
    assert.ok(i + 1 - length <= 2_000 / 25, `${length} of ${i + 1}`);
  }
  chain.clock.ms += 2_000;
  assert.equal(chain.pending()!.executed.block.transactions.length, 120);
});

test("on a chain without strangers the pending block always has the last transaction", () => {
  assert.deepEqual(
    seen(pendingOn(testChain(), { alwaysCurrent: true }), 20),
    Array.from({ length: 20 }, (_, i) => i + 1),
  );
});
