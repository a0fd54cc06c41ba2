/**
 * What users of chains of this kind have suffered from most in events and logs, one test each: subscriptions that fall silent or
 * say things twice, heads with made-up fields, blocks announced before they can be read, slow log queries.
 */
import assert from "node:assert/strict";
import { on } from "node:events";
import { after, before, test } from "node:test";
import { keccak256 } from "viem";
import { type Address, parseAddress } from "../../src/base/primitives/address.ts";
import { hashFromBigint } from "../../src/base/primitives/hash.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { SharedSlices } from "../../src/base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../../src/base/types/block.ts";
import { LogFilter } from "../../src/chain/logs/log-filter.ts";
import { LogIndex } from "../../src/chain/logs/log-index.ts";
import { findLogs } from "../../src/node/adapters/log-search.ts";
import { createMemoryKv } from "../../src/store/storage/memory-kv.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { WsClient } from "../support/ws-client.ts";

const slices = new SharedSlices(fatalTimers);

/** Init code that logs 32 bytes twice, the second time with topic 0xaa. */
const LOGGING_CODE = "0x60206000a060aa60206000a100";

let node: TestNode;
let client: WsClient;

before(async () => {
  node = await startTestNode({ dev: true, settings: { "consensus.block-time": "manual" } });
  client = await WsClient.open(node.wsUrl);
});
after(async () => {
  client.close();
  await node.stop();
});

const send = (fields: object = {}) =>
  client.call("eth_sendTransaction", {
    from: DEV_ADDRESSES[0],
    data: LOGGING_CODE,
    gas: "0x30000",
    ...fields,
  }) as Promise<string>;

test("a block has one hash, in every place it is told, and that is the hash of its header", async () => {
  const heads = await client.subscribe("newHeads");
  const logs = await client.subscribe("logs", {});
  const receipts = await client.subscribe("transactionReceipts");
  const filter = await client.call("eth_newBlockFilter");
  const transaction = await send();
  node.produceBlock();
  await client.untilTold(receipts, 1);
  const [head] = client.told(heads);
  const block = await client.call("eth_getBlockByNumber", head.number, true);
  const receipt = await client.call("eth_getTransactionReceipt", transaction);
  const found = await client.call("eth_getLogs", { blockHash: head.hash });
  const hashes = [
    block.hash,
    (await client.call("eth_getBlockByHash", head.hash, false)).hash,
    block.transactions[0].blockHash,
    receipt.blockHash,
    ...receipt.logs.map((log: { blockHash: string }) => log.blockHash),
    ...found.map((log: { blockHash: string }) => log.blockHash),
    ...client.told(logs).map(({ blockHash }) => blockHash),
    client.told(receipts)[0][0].blockHash,
    ...(await client.call("eth_getFilterChanges", filter)),
    keccak256(await client.call("debug_getRawHeader", head.number)),
  ];
  assert.equal(hashes.length, 13);
  assert.deepEqual(hashes, Array(13).fill(head.hash));
  assert.deepEqual(found, receipt.logs);
  assert.deepEqual(client.told(logs), receipt.logs);
  assert.deepEqual(client.told(receipts)[0], [receipt]);
  for (const id of [heads, logs, receipts]) await client.call("eth_unsubscribe", id);
});

test("newHeads tells of the header as it is", async () => {
  const heads = await client.subscribe("newHeads");
  await send();
  node.produceBlock();
  await client.untilTold(heads, 1);
  const [head] = client.told(heads);
  const { size, transactions, uncles, withdrawals, ...header } = await client.call(
    "eth_getBlockByNumber",
    head.number,
    false,
  );
  // Members of later forks are null there, as in geth.
  assert.deepEqual(head, { ...header, blockAccessListHash: null, slotNumber: null });
  assert.ok(BigInt(head.gasUsed) > 53_000n && BigInt(head.gasLimit) >= BigInt(head.gasUsed));
  assert.notEqual(BigInt(head.logsBloom), 0n);
  assert.equal(transactions.length, 1);
  await client.call("eth_unsubscribe", heads);
});

test("whatever a new head names can be read the moment it is told", async () => {
  const heads = await client.subscribe("newHeads");
  const checks: Promise<void>[] = [];
  client.on(heads, ({ hash, number }) => {
    checks.push(
      (async () => {
        const [block, newest, state, logs, nonce] = await Promise.all([
          client.call("eth_getBlockByHash", hash, false),
          client.call("eth_blockNumber"),
          client.call("eth_getBalance", DEV_ADDRESSES[0], number),
          client.call("eth_getLogs", { fromBlock: number, toBlock: number }),
          client.call("eth_getTransactionCount", DEV_ADDRESSES[0], "pending"),
        ]);
        assert.equal(block.hash, hash);
        assert.ok(BigInt(newest) >= BigInt(number));
        assert.ok(BigInt(state) > 0n);
        assert.equal(logs.length, 2 * block.transactions.length);
        for (const transaction of block.transactions) {
          const receipt = await client.call("eth_getTransactionReceipt", transaction);
          assert.equal(receipt?.blockHash, hash);
          const mined = await client.call("eth_getTransactionByHash", transaction);
          assert.equal(mined?.blockHash, hash);
          assert.ok(BigInt(nonce) > BigInt(mined.nonce));
        }
      })(),
    );
  });
  for (let i = 0; i < 20; i++) {
    await send();
    if (i % 2 === 0) await send();
    node.produceBlock();
  }
  await client.untilTold(heads, 20);
  await Promise.all(checks);
  await client.call("eth_unsubscribe", heads);
});

test("pending transactions are told when they arrive, by their own hash, not when they are mined", async () => {
  const pending = await client.subscribe("newPendingTransactions");
  const full = await client.subscribe("newPendingTransactions", true);
  const filter = await client.call("eth_newPendingTransactionFilter");
  const hash = await send();
  await client.untilTold(full, 1);
  assert.deepEqual(client.told(pending), [hash]);
  assert.equal(client.told(full)[0].hash, hash);
  assert.equal(client.told(full)[0].blockHash, null);
  const found = await client.call("eth_getTransactionByHash", hash);
  assert.deepEqual(found, client.told(full)[0]);
  node.produceBlock();
  assert.deepEqual(await client.call("eth_getFilterChanges", filter), [hash]);
  assert.deepEqual(client.told(pending), [hash]);
  for (const id of [pending, full]) await client.call("eth_unsubscribe", id);
});

test("subscriptions go on in order, each event once, while others come, vanish and do not read", async () => {
  const watcher = await WsClient.open(node.wsUrl);
  const heads = await watcher.subscribe("newHeads");
  const logs = await watcher.subscribe("logs", { topics: [`0x${"aa".padStart(64, "0")}`] });
  const first = Number(await client.call("eth_blockNumber")) + 1;
  const strangers: WsClient[] = [];
  for (let i = 0; i < 60; i++) {
    if (i % 3 === 0) {
      const stranger = await WsClient.open(node.wsUrl);
      await stranger.subscribe("newHeads", { includeTransactions: true, transactionDetails: true });
      await stranger.subscribe("logs", {});
      if (i % 2 === 0) stranger.socket.pause();
      strangers.push(stranger);
    }
    if (i % 5 === 4) strangers.shift()!.close();
    await send();
    node.produceBlock();
  }
  await Promise.all([watcher.untilTold(heads, 60), watcher.untilTold(logs, 60)]);
  const numbers = Array.from({ length: 60 }, (_, i) => first + i);
  assert.deepEqual(
    watcher.told(heads).map(({ number }) => Number(number)),
    numbers,
  );
  assert.deepEqual(
    watcher.told(logs).map(({ blockNumber }) => Number(blockNumber)),
    numbers,
  );
  for (const stranger of strangers) stranger.close();
  watcher.close();
});

test("a client that comes back hears of new blocks, and finds with eth_getLogs what it missed", async () => {
  let watcher = await WsClient.open(node.wsUrl);
  await watcher.subscribe("logs", {});
  watcher.close();
  const missed = [];
  for (let i = 0; i < 3; i++) {
    missed.push(await send());
    node.produceBlock();
  }
  watcher = await WsClient.open(node.wsUrl);
  const logs = await watcher.subscribe("logs", {});
  const head = Number(await watcher.call("eth_blockNumber"));
  const fromBlock = `0x${(head - 2).toString(16)}`;
  const found = await watcher.call("eth_getLogs", { fromBlock });
  assert.deepEqual(
    found.map(({ transactionHash }: { transactionHash: string }) => transactionHash),
    missed.flatMap((hash) => [hash, hash]),
  );
  const next = await send();
  node.produceBlock();
  await watcher.untilTold(logs, 2);
  assert.deepEqual(
    watcher.told(logs).map(({ transactionHash }) => transactionHash),
    [next, next],
  );
  watcher.close();
});

test("one client that installs filters and leaves them does not use up those of others", async () => {
  const small = await startTestNode({ dev: true, limits: { filters: { max: 10 } } });
  const greedy = await WsClient.open(small.wsUrl);
  const modest = await WsClient.open(small.wsUrl);
  try {
    const filter = await modest.call("eth_newBlockFilter");
    for (let i = 0; i < 9; i++) await greedy.call("eth_newBlockFilter");
    await assert.rejects(greedy.call("eth_newBlockFilter"), /too many filters/);
    assert.deepEqual(await modest.call("eth_getFilterChanges", filter), []);
  } finally {
    greedy.close();
    modest.close();
    await small.stop();
  }
});

test("subscriptions can be made and ended inside a batch; notices come behind its answer", async () => {
  const watcher = await WsClient.open(node.wsUrl);
  const messages = on(watcher.socket, "message");
  const nextMessage = async () => JSON.parse((await messages.next()).value[0].toString());
  const call = (id: number, method: string, params: unknown[]) => ({
    jsonrpc: "2.0",
    id,
    method,
    params,
  });
  watcher.socket.send(
    JSON.stringify([
      call(1, "eth_subscribe", ["newHeads"]),
      call(2, "eth_subscribe", ["syncing"]),
      call(3, "eth_unsubscribe", ["0x1"]),
      call(4, "eth_subscribe", ["nothing"]),
    ]),
  );
  const answer = await nextMessage();
  const notice = await nextMessage();
  const [heads, syncing, unsubscribed, unknown] = answer;
  assert.match(heads.result, /^0x[1-9a-f][0-9a-f]*$/);
  assert.deepEqual(notice.params, { subscription: syncing.result, result: false });
  assert.deepEqual(unsubscribed.error, { code: -32000, message: "subscription not found" });
  assert.deepEqual(unknown.error, {
    code: -32601,
    message: 'no "nothing" subscription in eth namespace',
  });
  watcher.socket.send(JSON.stringify([call(5, "eth_unsubscribe", [heads.result])]));
  assert.deepEqual((await nextMessage())[0].result, true);
  node.produceBlock();
  const number = await watcher.call("eth_blockNumber");
  assert.equal((await nextMessage()).result, number, "no head before it");
  watcher.close();
});

test("eth_getLogs that is too large says so with a range that would do", async () => {
  const small = await startTestNode({
    dev: true,
    settings: { "json-rpc.logs-limit": "5", "consensus.block-time": "manual" },
  });
  const other = await WsClient.open(small.wsUrl);
  try {
    for (let i = 0; i < 4; i++) {
      await other.call("eth_sendTransaction", {
        from: DEV_ADDRESSES[0],
        data: LOGGING_CODE,
        gas: "0x30000",
      });
      small.produceBlock();
    }
    const ask = async (criteria: object) => {
      const response = await fetch(small.url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params: [criteria] }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: an answer of either kind
      return (await response.json()) as any;
    };
    const { error } = await ask({ fromBlock: "0x1", toBlock: "0x4" });
    assert.equal(error.code, -32005);
    assert.deepEqual(error.data, { from: "0x1", to: "0x2" });
    const { result } = await ask({ fromBlock: error.data.from, toBlock: error.data.to });
    assert.equal(result.length, 4);
    assert.equal((await ask({ fromBlock: "0x5", toBlock: "0x6" })).error.code, -32602);
  } finally {
    other.close();
    await small.stop();
  }
});

test("logs of one contract are found in ten thousand full blocks by reading a few", async () => {
  const index = new LogIndex(createMemoryKv());
  const busy = parseAddress(DEV_ADDRESSES[0]);
  const rare = parseAddress(DEV_ADDRESSES[1]);
  for (let number = 0; number < 10_000; number++) {
    const logOf = (address: Address) => ({ address, topics: [], data: new Uint8Array(32) });
    const logs = [...Array(9).fill(logOf(busy)), logOf(number % 500 === 7 ? rare : busy)];
    const hash = hashFromBigint(BigInt(number + 1));
    index.remember({
      block: { hash, header: { number, timestamp: number }, transactions: [{ hash }] },
      receipts: [{ logs }],
    } as unknown as ExecutedBlock);
    while (index.needsMerge()) index.mergeSome();
  }
  const range = { from: 0, to: 9_999 };
  const limits = { resultsMax: 10_000, bytesMax: 20_000_000, workMax: 50 };
  const few = await findLogs(index, new LogFilter({ addresses: [rare] }), range, limits, slices);
  assert.deepEqual([few.count, few.limit], [20, undefined]);
  const all = await findLogs(
    index,
    new LogFilter({ addresses: [busy] }),
    range,
    { ...limits, workMax: 1_000_000 },
    slices,
  );
  // Whole blocks only: the last one that fits ends at 9,998.
  assert.deepEqual([all.count, all.limit], [9_998, "results"]);
});
