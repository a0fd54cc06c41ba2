import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { CONTRACT, createTestModules, TOPIC } from "../../../../test/support/rpc/test-chain.ts";
import { TestConnection } from "../../../../test/support/rpc/test-events.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import { jsonString } from "../../transport/codec.ts";
import type { FilterOptions } from "../filters/filters.ts";
import { transactionText } from "../json/transaction-json.ts";
import {
  getFilterChanges,
  getFilterLogs,
  newBlockFilter,
  newFilter,
  newPendingTransactionFilter,
  uninstallFilter,
} from "./filters.ts";

const test3 = createTestModules();
const [genesis, withLogs, empty] = test3.blocks as [ExecutedBlock, ExecutedBlock, ExecutedBlock];

/** A chain that begins with its genesis block and grows and shrinks as a test wants. */
function setup(filterOptions: Partial<FilterOptions> = {}) {
  const blocks = [genesis];
  const timers = new ManualTimers();
  const modules = createTestModules({
    filterOptions,
    timers,
    reader: {
      head: () => blocks.at(-1)!,
      block: (at) => blocks.find(({ block }) => block.hash === at || block.header.number === at),
    },
  });
  modules.logs.rollback(0, test3.blocks.slice(1))({ ...NO_ROWS });
  return {
    ...modules,
    async append(executed: ExecutedBlock) {
      blocks.push(executed);
      modules.logs.remember(executed);
      await modules.emitter.block(executed);
    },
    async rollbackTo(number: number) {
      const removed = blocks.splice(number + 1);
      modules.logs.rollback(number, removed)({ ...NO_ROWS });
      await modules.emitter.removed(removed);
    },
    wait(ms: number) {
      timers.jump(ms);
    },
  };
}

/** Everything is still in memory. */
const NO_ROWS = {
  get: () => undefined,
  view: () => undefined,
  range: () => [],
  put() {},
  remove() {},
};

type Setup = ReturnType<typeof setup>;
const changes = (modules: Setup, id: unknown) =>
  getFilterChanges.call(modules, [id]) as Promise<{ removed: boolean; logIndex: string }[]>;

test("a block filter gives each new hash once, whichever connection polls", async () => {
  const modules = setup();
  const maker = new TestConnection();
  const id = await newBlockFilter.call(modules, [], maker.context());
  assert.deepEqual(await changes(modules, id), []);
  await modules.append(withLogs);
  await modules.append(empty);
  const other = new TestConnection();
  assert.deepEqual(await getFilterChanges.call(modules, [id], other.context()), [
    withLogs.block.hash,
    empty.block.hash,
  ]);
  assert.deepEqual(await changes(modules, id), []);
});

test("a log filter gives matching logs of blocks made after it", async () => {
  const modules = setup();
  const all = await newFilter.call(modules, [{ address: CONTRACT }]);
  const some = await newFilter.call(modules, [{ topics: [TOPIC] }]);
  const later = await newFilter.call(modules, [{ fromBlock: "0x2" }]);
  const early = await newFilter.call(modules, [{ fromBlock: "0x0", toBlock: "0x0" }]);
  await modules.append(withLogs);
  assert.equal((await changes(modules, all)).length, 10);
  assert.deepEqual(await changes(modules, all), []);
  assert.equal((await changes(modules, some)).length, 5);
  assert.deepEqual(await changes(modules, later), []);
  assert.deepEqual(await changes(modules, early), []);
  const afterwards = await newFilter.call(modules, [{}]);
  assert.deepEqual(await changes(modules, afterwards), []);
});

test("eth_getFilterLogs searches anew and leaves the changes alone", async () => {
  const modules = setup();
  const id = await newFilter.call(modules, [{ fromBlock: "earliest" }]);
  await modules.append(withLogs);
  assert.equal(((await getFilterLogs.call(modules, [id])) as unknown[]).length, 10);
  assert.equal((await changes(modules, id)).length, 10);
  assert.equal(((await getFilterLogs.call(modules, [id])) as unknown[]).length, 10);
  const byHash = await newFilter.call(modules, [{ blockHash: withLogs.block.hash }]);
  assert.equal(((await getFilterLogs.call(modules, [byHash])) as unknown[]).length, 10);
  for (const [method, number] of [
    [newBlockFilter, 5],
    [newPendingTransactionFilter, 4],
  ] as const) {
    const other = await method.call(modules);
    await assert.rejects(getFilterLogs.call(modules, [other]), {
      code: "RPC_FILTER_KIND",
      message: `filter ${other} doesn't have a LogsSubscription type: got ${number}`,
    });
  }
});

test("a pending filter gives hashes, or transactions when asked for them", async () => {
  const modules = setup();
  const [first, second] = modules.pooled;
  const hashes = await newPendingTransactionFilter.call(modules);
  await modules.emitter.pending([first!]);
  const full = await newPendingTransactionFilter.call(modules, [true]);
  await modules.emitter.pending([second!]);
  assert.deepEqual(await changes(modules, hashes), [first!.tx.hash, second!.tx.hash]);
  assert.deepEqual(await changes(modules, hashes), []);
  assert.deepEqual(await changes(modules, full), [JSON.parse(transactionText(second!.tx, second!.sender))]);
});

test("logs of removed blocks come again if they were given, then those of the blocks in their place", async () => {
  const modules = setup();
  const polled = await newFilter.call(modules, [{ topics: [TOPIC] }]);
  const unpolled = await newFilter.call(modules, [{ topics: [TOPIC] }]);
  const blocks = await newBlockFilter.call(modules);
  await modules.append(withLogs);
  await modules.append(empty);
  await changes(modules, polled);
  await changes(modules, blocks);
  await modules.rollbackTo(0);
  await modules.append(withLogs);
  const again = await changes(modules, polled);
  assert.deepEqual(
    again.map(({ removed }) => removed),
    [...Array(5).fill(true), ...Array(5).fill(false)],
  );
  assert.deepEqual(
    (await changes(modules, unpolled)).map(({ removed }) => removed),
    Array(5).fill(false),
  );
  assert.deepEqual(await changes(modules, blocks), [withLogs.block.hash]);
});

test("changes that do not fit one answer come with the next", async () => {
  const limits = { resultsMax: 10, bytesMax: 10 ** 6, workMax: 10 ** 6 };
  const modules = setup({ logLimits: limits });
  const id = await newFilter.call(modules, [{}]);
  await modules.append(withLogs);
  await modules.append({
    ...withLogs,
    block: { ...withLogs.block, header: { ...withLogs.block.header, number: 2 } },
  });
  const numbers = async () =>
    ((await changes(modules, id)) as unknown as { blockNumber: string }[]).map(({ blockNumber }) => blockNumber);
  assert.deepEqual(await numbers(), Array(10).fill("0x1"));
  assert.deepEqual(await numbers(), Array(10).fill("0x2"));
  assert.deepEqual(await numbers(), []);
});

test("a filter ends when it is uninstalled or nobody polls it for five minutes", async () => {
  const modules = setup();
  const idle = await newBlockFilter.call(modules);
  const polled = await newBlockFilter.call(modules);
  modules.wait(200_000);
  await changes(modules, polled);
  modules.wait(200_000);
  await assert.rejects(changes(modules, idle), {
    code: "RPC_FILTER_NOT_FOUND",
    message: "filter not found",
  });
  assert.deepEqual(await changes(modules, polled), []);
  modules.sessions.filters.sweep();
  assert.equal(modules.sessions.filters.size, 1);
  assert.equal(await uninstallFilter.call(modules, [polled]), true);
  assert.equal(await uninstallFilter.call(modules, [polled]), false);
  assert.equal(await uninstallFilter.call(modules, [idle]), false);
  await assert.rejects(changes(modules, polled), { code: "RPC_FILTER_NOT_FOUND" });
  await assert.rejects(getFilterLogs.call(modules, ["0x1"]), { code: "RPC_FILTER_NOT_FOUND" });
  await assert.rejects(changes(modules, 1), { code: "RPC_INVALID_PARAMS" });
  await assert.rejects(getFilterLogs.call(modules, [null]), { code: "RPC_INVALID_PARAMS" });
});

test("20,000 filters nobody polls leave nothing behind", async () => {
  const modules = setup({ max: 20_000 });
  for (let i = 0; i < 20_000; i++) modules.sessions.filters.addPending(false);
  await modules.emitter.pending(modules.pooled);
  modules.wait(300_001);
  modules.sessions.filters.sweep();
  assert.equal(modules.sessions.filters.size, 0);
  modules.sessions.filters.close();
});

test("whole pending transactions are written in slices, however many there are and however often they are asked for", async () => {
  // Each look at the clock is a slice.
  const modules = createTestModules({ timers: new ManualTimers({ msPerLook: 10 }) });
  const { filters } = modules.sessions;
  const id = filters.addPending(true);
  const [first] = modules.pooled;
  await modules.emitter.pending(Array(100).fill(first));
  const polled = filters.changes(id);
  assert.ok(polled instanceof Promise);
  assert.equal(JSON.parse(jsonString(await polled)).length, 100);
});

test("a full table gives up the filter nobody has polled for longest, but none that is in use", async () => {
  const modules = setup({ max: 3, maxPerConnection: 2 });
  const polled = await newBlockFilter.call(modules);
  const left = await newBlockFilter.call(modules);
  await newBlockFilter.call(modules);
  await assert.rejects(newBlockFilter.call(modules), { code: "RPC_TOO_MANY" });
  modules.wait(40_000);
  await changes(modules, polled);
  await newBlockFilter.call(modules);
  assert.deepEqual(await changes(modules, polled), []);
  await assert.rejects(changes(modules, left), { code: "RPC_FILTER_NOT_FOUND" });
});

test("one address that polls all filters there may be keeps others from none", () => {
  const { filters } = setup({ max: 4, termsMax: 4 }).sessions;
  const from = (remoteAddress: string) => ({
    connection: undefined,
    source: { remoteAddress, apiKey: undefined, certified: undefined },
  });
  const [greedy, honest] = [from("10.0.0.1"), from("10.0.0.2")];
  for (let i = 0; i < 4; i++) filters.addPending(false, greedy);
  assert.throws(() => filters.addPending(false, greedy), { code: "RPC_TOO_MANY" });
  const id = filters.addPending(false, honest);
  filters.addPending(false, honest);
  assert.throws(() => filters.addPending(false, honest), { code: "RPC_TOO_MANY" });
  filters.remove(id);
  filters.addPending(false, honest);
});

test("all log filters together hold a bounded number of addresses and topics", async () => {
  const modules = setup({ termsMax: 6 });
  const wide = { address: [CONTRACT], topics: [[TOPIC, TOPIC], TOPIC] };
  const make = () => newFilter.call(modules, [wide]) as Promise<string>;
  const first = await make();
  await assert.rejects(make(), { code: "RPC_TOO_MANY" });
  await newFilter.call(modules, [{ address: CONTRACT }]);
  await newBlockFilter.call(modules);
  await uninstallFilter.call(modules, [first]);
  const second = await make();
  // One that nobody polls makes room, as in a full table.
  modules.wait(40_000);
  await make();
  await assert.rejects(changes(modules, second), { code: "RPC_FILTER_NOT_FOUND" });
  assert.equal(modules.sessions.filters.size, 2);
  modules.wait(300_001);
  modules.sessions.filters.sweep();
  await make();
  await assert.rejects(newFilter.call(setup({ termsMax: 3 }), [wide]), { code: "RPC_TOO_MANY" });
});

test("one connection makes a bounded number of filters", async () => {
  const modules = setup({ maxPerConnection: 2 });
  const connection = new TestConnection();
  const make = () => newBlockFilter.call(modules, [], connection.context());
  const first = await make();
  await make();
  await assert.rejects(make(), { code: "RPC_TOO_MANY" });
  await uninstallFilter.call(modules, [first]);
  await make();
});

test("a filter that is left behind does not keep its connection in memory", async () => {
  const modules = setup();
  const connect = async () => {
    const connection = new TestConnection();
    await newBlockFilter.call(modules, [], connection.context());
    return new WeakRef(connection);
  };
  const connections = [await connect(), await connect()];
  // A WeakRef holds on until the end of the turn it was made in.
  await new Promise((resolve) => setImmediate(resolve));
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  assert.equal(modules.sessions.filters.size, 2);
  assert.deepEqual(
    connections.map((connection) => connection.deref()),
    [undefined, undefined],
  );
});

test("eth_newFilter takes only ranges that reach into the future", async () => {
  const modules = setup();
  for (const range of [
    {},
    { fromBlock: "latest", toBlock: "latest" },
    { fromBlock: "0x5" },
    { fromBlock: "0x5", toBlock: "0x5" },
    { fromBlock: "earliest", toBlock: "0x5" },
  ]) {
    assert.match((await newFilter.call(modules, [range])) as string, /^0x[1-9a-f][0-9a-f]{0,31}$/);
  }
  for (const range of [
    { toBlock: "0x5" },
    { fromBlock: "0x6", toBlock: "0x5" },
    { fromBlock: "safe" },
    { fromBlock: "0x1", toBlock: "finalized" },
  ]) {
    await assert.rejects(newFilter.call(modules, [range]), {
      code: "RPC_INVALID_PARAMS",
      message: "invalid block range params",
    });
  }
  await assert.rejects(newFilter.call(modules, [{ toBlock: "pending" }]), {
    message: "pending logs are not supported",
  });
});
