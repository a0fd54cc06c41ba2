import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT, createTestModules, TOPIC } from "../../../../test/support/rpc/test-chain.ts";
import { TestConnection } from "../../../../test/support/rpc/test-events.ts";
import { minedReceipts } from "../../ports/mined.ts";
import type { NodeInfo } from "../../ports/node.ts";
import { inProcessContext } from "../../transport/dispatch/context.ts";
import { NO_PARAMS } from "../../transport/dispatch/message.ts";
import { blockText, headerText } from "../json/block-json.ts";
import { receiptText } from "../json/receipt-json.ts";
import { transactionText } from "../json/transaction-json.ts";
import { ethSubscriptions } from "./subscriptions.ts";

const [subscribe, unsubscribe] = ethSubscriptions as [(typeof ethSubscriptions)[0], (typeof ethSubscriptions)[0]];
const base = createTestModules();
const block = base.blocks[1]!;
const style = { nullPowFields: false };

function setup(subscriptionsMax = 128, info: Partial<NodeInfo> = {}) {
  const modules = createTestModules({ subscriptionsMax, info });
  const connection = new TestConnection();
  return {
    ...modules,
    connection,
    /** Subscribes and lets the answer go out. */
    async subscribe(...params: unknown[]) {
      const context = connection.context();
      const id = await subscribe.call(modules, params, context);
      context.replied();
      return id as string;
    },
    results: () => connection.notices.map(({ params }) => params.result),
  };
}

test("newHeads gives the header of each new block, or the block when asked for its transactions", async () => {
  const { emitter, connection, subscribe } = setup();
  const ids = [
    await subscribe("newHeads"),
    await subscribe("newHeads", { includeTransactions: true }),
    await subscribe("newHeads", { includeTransactions: true, transactionDetails: true }),
    await subscribe("newHeads", null),
  ];
  await emitter.block(block);
  // Members of later forks are null there, as in geth.
  const header = { ...JSON.parse(headerText(block.block, style)), blockAccessListHash: null, slotNumber: null };
  const byId = new Map(connection.notices.map(({ params }) => [params.subscription, params.result]));
  assert.deepEqual(
    ids.map((id) => byId.get(id)),
    [header, JSON.parse(blockText(block, false, style)), JSON.parse(blockText(block, true, style)), header],
  );
  assert.deepEqual(
    connection.notices.map(({ jsonrpc, method }) => [jsonrpc, method]),
    Array(4).fill(["2.0", "eth_subscription"]),
  );
});

test("newHeads says null where a header of an older fork has no member", async () => {
  const { emitter, results, subscribe } = setup();
  await subscribe("newHeads");
  const { baseFeePerGas, withdrawalsRoot, requestsHash, ...older } = block.block.header;
  await emitter.block({
    ...block,
    block: { ...block.block, hash: base.blocks[2]!.block.hash, header: older },
  });
  const [head] = results();
  assert.deepEqual(
    [head.baseFeePerGas, head.withdrawalsRoot, head.requestsHash, head.blobGasUsed],
    [null, null, null, "0x0"],
  );
});

test("logs gives one notice for each log that matches, and again when its block is removed", async () => {
  const { emitter, results, subscribe } = setup();
  await subscribe("logs", { address: CONTRACT, topics: [TOPIC] });
  await subscribe("logs", { address: `0x${"99".repeat(20)}` });
  await subscribe("logs", { fromBlock: "0x2" });
  await emitter.block(block);
  assert.deepEqual(
    results().map(({ logIndex, removed }) => [logIndex, removed]),
    ["0x0", "0x2", "0x4", "0x6", "0x8"].map((index) => [index, false]),
  );
  await emitter.removed([block]);
  assert.deepEqual(
    results()
      .slice(5)
      .map(({ logIndex, removed }) => [logIndex, removed]),
    ["0x0", "0x2", "0x4", "0x6", "0x8"].map((index) => [index, true]),
  );
});

test("newPendingTransactions gives hashes, or transactions", async () => {
  const { emitter, results, subscribe, pooled } = setup();
  await subscribe("newPendingTransactions");
  await subscribe("newPendingTransactions", true);
  await emitter.pending(pooled);
  assert.deepEqual(
    results(),
    pooled.flatMap(({ tx, sender }) => [tx.hash, JSON.parse(transactionText(tx, sender))]),
  );
});

test("transactionReceipts gives those asked for, all of a block at once", async () => {
  const { emitter, results, subscribe, blocks } = setup();
  const { transactions } = block.block;
  await subscribe("transactionReceipts", { transactionHashes: [transactions[1]!.hash] });
  await subscribe("transactionReceipts");
  await emitter.block(blocks[2]!);
  assert.deepEqual(results(), []);
  await emitter.block(block);
  assert.deepEqual(results()[0], [JSON.parse(receiptText(minedReceipts(block)[1]!))]);
  assert.equal(results()[1].length, transactions.length);
  const many = Array(201).fill(transactions[0]!.hash);
  await assert.rejects(subscribe("transactionReceipts", { transactionHashes: many }), {
    code: "RPC_SUBSCRIPTION_ARGUMENT",
  });
});

test("syncing tells at once that there is nothing to catch up with", async () => {
  const { results, subscribe, sessions, chain } = setup();
  await subscribe("syncing");
  // An answer that comes after the one the subscription waits for.
  await chain.head();
  assert.deepEqual(results(), [false]);
  sessions.feeds.close();
});

test("syncing tells the beginning and the end of catching up, with the block that ends it", async () => {
  const info: { syncProgress: NodeInfo["syncProgress"] } = { syncProgress: undefined };
  const { results, subscribe, sessions, chain, emitter } = setup(128, info);
  await subscribe("syncing");
  await chain.head();
  const progress = { startingBlock: 1, currentBlock: 5, highestBlock: 9 };
  for (const syncProgress of [progress, { ...progress, currentBlock: 6 }, undefined]) {
    info.syncProgress = syncProgress;
    await emitter.block(block);
    await chain.head();
  }
  assert.deepEqual(
    results().map((result) => result.syncing ?? result),
    [false, true, false],
  );
  assert.equal(results()[1].status.highestBlock, "0x9");
  sessions.feeds.close();
});

test("notices wait until the id is out", async () => {
  const modules = setup();
  const context = modules.connection.context();
  const id = await subscribe.call(modules, ["newHeads"], context);
  await modules.emitter.block(block);
  assert.equal(modules.connection.notices.length, 0);
  context.replied();
  assert.equal(modules.connection.notices[0].params.subscription, id);
  await modules.emitter.block(block);
  assert.equal(modules.connection.notices.length, 2);
});

test("eth_unsubscribe ends a subscription of its own connection only", async () => {
  const modules = setup();
  const id = await modules.subscribe("newHeads");
  const stranger = new TestConnection();
  const refused = { code: "RPC_SUBSCRIPTION_NOT_FOUND", message: "subscription not found" };
  await assert.rejects(unsubscribe.call(modules, [id], stranger.context()), refused);
  assert.equal(await unsubscribe.call(modules, [id], modules.connection.context()), true);
  await assert.rejects(unsubscribe.call(modules, [id], modules.connection.context()), refused);
  await modules.emitter.block(block);
  assert.deepEqual(modules.connection.notices, []);
});

test("a client that is gone leaves nothing behind", async () => {
  const modules = setup();
  for (const name of ["newHeads", "newPendingTransactions", "transactionReceipts", "syncing"]) {
    await modules.subscribe(name);
  }
  await modules.subscribe("logs", {});
  assert.equal(modules.sessions.subscriptions.size, 5);
  const before = modules.connection.notices.length;
  modules.connection.close();
  assert.equal(modules.sessions.subscriptions.size, 0);
  // A call that was still running when the connection broke.
  await modules.subscribe("newHeads");
  await modules.emitter.block(block);
  await modules.emitter.pending(modules.pooled);
  assert.equal(modules.connection.notices.length, before);
});

test("eth_subscribe names what it cannot do", async () => {
  const { subscribe, connection } = setup(2);
  const context = connection.context();
  const cases: readonly (readonly [unknown[], string, string])[] = [
    [[], "RPC_INVALID_PARAMS", "expected subscription name as first argument"],
    [[1], "RPC_INVALID_PARAMS", "expected subscription name as first argument"],
    [["newBlocks"], "RPC_UNKNOWN_SUBSCRIPTION", 'no "newBlocks" subscription in eth namespace'],
    [["logs"], "RPC_INVALID_PARAMS", "missing value for required argument 1"],
    [["logs", { address: 1 }], "RPC_INVALID_PARAMS", "invalid argument 1: invalid addresses in query"],
    [["logs", { toBlock: "0x1" }], "RPC_INVALID_PARAMS", "invalid block range params"],
    [["newHeads", {}, 1], "RPC_INVALID_PARAMS", "too many arguments, want at most 2"],
    [
      ["transactionReceipts", { transactionHashes: "x" }],
      "RPC_INVALID_PARAMS",
      "invalid argument 1: json: cannot unmarshal string into Go struct field input.transactionHashes of type []common.Hash",
    ],
  ];
  for (const [params, code, message] of cases) {
    await assert.rejects(subscribe(...params), { code, message });
  }
  const noArray = ethSubscriptions[0]!.run;
  assert.throws(() => noArray(base, undefined, context), { message: "non-array args" });
  assert.throws(() => noArray(base, NO_PARAMS, context), { message: "non-array args" });
  assert.throws(() => noArray(base, ["newHeads"], inProcessContext()), {
    code: "RPC_NOTIFICATIONS_UNSUPPORTED",
  });
  await subscribe("newHeads");
  await subscribe("newHeads");
  await assert.rejects(subscribe("newHeads"), { code: "RPC_TOO_MANY" });
});
