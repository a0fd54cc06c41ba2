import assert from "node:assert/strict";
import { test } from "node:test";
import { STRICT_LOGGER } from "../../test/support/base/telemetry/strict-logger.ts";
import { RandomChain, type RandomChainOptions } from "../../test/support/chain/random-chain.ts";
import { InvariantError } from "../base/errors.ts";
import { allForksAtGenesis } from "../base/params/blob-schedule.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { createStateTrie } from "../evm/state/state-trie.ts";
import { LogPoisonedError } from "../store/storage/log/block-log.ts";
import { createChain } from "./chain.ts";
import { deferNothing } from "./store/background-work.ts";
import { createMemoryBlockStore } from "./store/open-block-store.ts";

function chainOf(seed: number, options: RandomChainOptions = {}) {
  const store = createMemoryBlockStore({ defer: deferNothing, createTrie: createStateTrie });
  const random = new RandomChain(seed, options);
  const genesis = random.next();
  store.append(genesis.record, genesis.nodes);
  const errors: unknown[] = [];
  const chain = createChain({
    config: allForksAtGenesis(1n),
    store,
    stateTrie: createStateTrie(store.trieNodes),
    log: { ...STRICT_LOGGER, error: (_, data) => errors.push(data?.["error"]) },
  });
  return { chain, random, store, errors };
}

test("commit tells every listener of a block, whatever one of them throws, and keeps the block", () => {
  const { chain, random, errors } = chainOf(1);
  const heard: number[] = [];
  const fault = new Error("a listener's own trouble");
  chain.subscribe(() => {
    throw fault;
  });
  chain.subscribe(({ executed }) => heard.push(executed.block.header.number));
  for (let number = 1; number <= 2; number++) {
    const { record, nodes } = random.next();
    chain.commit(record, nodes);
    assert.equal(chain.head().block.hash, record.block.hash);
  }
  assert.deepEqual(heard, [1, 2]);
  assert.deepEqual(errors, [fault, fault]);
});

test("commitTogether publishes its blocks after the last one, also where its caller fails, and none that could not be synced", () => {
  const { chain, random, store } = chainOf(1);
  const heard: number[] = [];
  chain.subscribe(({ executed }) => heard.push(executed.block.header.number));
  const commit = () => {
    const { record, nodes } = random.next();
    chain.commit(record, nodes);
  };
  const heardAtOnce: number[] = [];
  chain.subscribe(({ executed }) => heardAtOnce.push(executed.block.header.number), true);
  chain.commitTogether(() => {
    commit();
    assert.deepEqual(heardAtOnce, [1]);
    commit();
    assert.deepEqual(heard, []);
    assert.equal(chain.head().block.header.number, 2);
  });
  assert.deepEqual(heard, [1, 2]);
  const fault = new RangeError("of the caller");
  assert.throws(
    () =>
      chain.commitTogether(() => {
        commit();
        throw fault;
      }),
    fault,
  );
  assert.deepEqual(heard, [1, 2, 3]);
  store.appendTogether = (work) => {
    work();
    throw new LogPoisonedError("the log could not be synced");
  };
  assert.throws(() => chain.commitTogether(commit), LogPoisonedError);
  assert.deepEqual(heard, [1, 2, 3]);
  commit();
  assert.deepEqual(heard, [1, 2, 3, 5]);
});

test("rollbackTo tells every listener of the removed blocks, whatever one of them throws", () => {
  const { chain, random, errors } = chainOf(2);
  for (let number = 1; number <= 3; number++) {
    const { record, nodes } = random.next();
    chain.commit(record, nodes);
  }
  const heard: number[] = [];
  const fault = new Error("a listener's own trouble");
  chain.onRollback(() => {
    throw fault;
  });
  chain.onRollback((removed) => heard.push(...removed.map(({ block }) => block.header.number)));
  chain.rollbackTo(1);
  assert.equal(chain.head().block.header.number, 1);
  assert.deepEqual(heard, [2, 3]);
  assert.deepEqual(errors, [fault]);
});

test("a rollback that fails once the store has lost the blocks moves the head as well", () => {
  const { chain, random, store } = chainOf(2);
  for (let number = 1; number <= 3; number++) {
    const { record, nodes } = random.next();
    chain.commit(record, nodes);
  }
  const removed: number[] = [];
  chain.onRollback((blocks) => removed.push(...blocks.map(({ block }) => block.header.number)));
  const fault = new Error("the log could not be synced");
  const rollbackTo = store.rollbackTo.bind(store);
  store.rollbackTo = (number) => {
    rollbackTo(number);
    throw fault;
  };
  assert.throws(() => chain.rollbackTo(1), fault);
  assert.equal(chain.head().block.header.number, 1);
  assert.deepEqual(removed, [2, 3]);
  store.rollbackTo = () => {
    throw fault;
  };
  assert.throws(() => chain.rollbackTo(0), fault);
  assert.equal(chain.head().block.header.number, 1);
});

test("commit refuses a block whose parent is not the head", () => {
  const { chain, random } = chainOf(3);
  random.next();
  const { record, nodes } = random.next();
  assert.throws(() => chain.commit(record, nodes), InvariantError);
  assert.equal(chain.head().block.header.number, 0);
});

test("rollbackTo removes many blocks in parts, so that listeners never get all of them at once", () => {
  const { chain, random } = chainOf(3, { accounts: 2, transactionsMax: 1 });
  for (let number = 1; number <= 2_500; number++) {
    const { record, nodes } = random.next();
    chain.commit(record, nodes);
  }
  const parts: number[][] = [];
  chain.onRollback((removed) => parts.push(removed.map(({ block }) => block.header.number)));
  chain.rollbackTo(10);
  assert.equal(chain.head().block.header.number, 10);
  assert.ok(parts.length >= 3);
  for (const part of parts) assert.ok(part.length <= 1_024);
  const removed = parts.flat().sort((a, b) => a - b);
  assert.deepEqual(
    removed,
    Array.from({ length: 2_490 }, (_, i) => i + 11),
  );
});

test("no part of a rollback is done where its end is pruned", () => {
  const { chain, random, store } = chainOf(3, { accounts: 2, transactionsMax: 1 });
  for (let number = 1; number <= 1_100; number++) {
    const { record, nodes } = random.next();
    chain.commit(record, nodes);
  }
  store.proofBase = () => 20;
  for (const rollBack of [chain.rollbackPart, chain.rollbackTo]) {
    assert.throws(() => rollBack(10), { code: "BLOCK_STATE_PRUNED" });
    assert.equal(chain.head().block.header.number, 1_100);
  }
  assert.equal(chain.rollbackPart(20), false);
  assert.equal(chain.rollbackPart(20), true);
  assert.equal(chain.head().block.header.number, 20);
});

test("transaction does not return a transaction whose hash only begins like the one asked for", () => {
  const { chain, random, store } = chainOf(1);
  let { record, nodes } = random.next();
  for (; record.block.transactions.length === 0; { record, nodes } = random.next()) chain.commit(record, nodes);
  chain.commit(record, nodes);
  const { hash } = record.block.transactions[0]!;
  assert.equal(chain.transaction(hash)!.transaction.hash, hash);
  const similar = `${hash.slice(0, 34)}${"0".repeat(32)}` as Hash;
  assert.deepEqual(store.transactionPosition(similar), { number: record.block.header.number, index: 0 });
  assert.equal(chain.transaction(similar), undefined);
});
