import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { metricOf, WITH_METRICS } from "../support/metrics.ts";
import { openRaw } from "../support/raw-socket.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";
import { WsClient } from "../support/ws-client.ts";

/** 2,000 rounds of JUMPDEST PUSH1 1 ADD DUP1 PUSH2 2000 GT PUSH1 1 JUMPI: a struct log of 1.3 MB. */
const LOOP = "0x5f5b600101806107d011600157";
const LOOPS = 6;
const METHOD_NOT_FOUND = -32601;

type Notice = {
  readonly block: string;
  readonly hash: string;
  readonly traces: readonly { readonly txHash: string; readonly result?: unknown }[];
};

describe("debug_subscribe traceChain", () => {
  let node: TestNode;
  let clients: WsClient[] = [];
  /** Blocks 1 to LOOPS have one transaction each, the two after them none. */
  const last = LOOPS + 2;

  const ask = (method: string, ...params: readonly unknown[]) => callHttp(node.url, method, params);
  const open = async () => {
    const client = await WsClient.open(node.wsUrl);
    clients.push(client);
    return client;
  };
  const running = () => metricOf(node, "rpc_trace_chains");
  const unsentBytes = () => metricOf(node, "rpc_memory_bytes", 'budget="output"');

  /** What a subscription receives up to the block `end`. */
  const untilBlock = (client: WsClient, id: string, end: number) =>
    new Promise<Notice[]>((resolve) => {
      const look = () => {
        const notices: Notice[] = client.told(id);
        if (Number(notices.at(-1)?.block) === end) resolve(notices);
      };
      client.on(id, look);
      look();
    });

  const assertTraces = async (notice: Notice, config: object) => {
    const { result } = await ask("debug_traceBlockByNumber", notice.block, config);
    assert.deepEqual(notice.traces, result);
    const block = await ask("eth_getBlockByNumber", notice.block, false);
    assert.equal(notice.hash, block.result.hash);
  };

  before(async () => {
    node = await startTestNode({
      dev: true,
      settings: WITH_METRICS,
      limits: { subscriptions: { traceChainsMax: 2 } },
    });
    for (let i = 0; i < LOOPS; i++) {
      const { error } = await ask("eth_sendTransaction", {
        from: DEV_ADDRESSES[0],
        gas: "0x7a120",
        data: LOOP,
      });
      assert.equal(error, undefined);
    }
    node.produceBlock();
    node.produceBlock();
    assert.equal((await ask("eth_blockNumber")).result, `0x${last.toString(16)}`);
  });
  after(() => node.stop());

  const closeAll = async () => {
    for (const client of clients) client.close();
    clients = [];
    await until(async () => (await running()) === 0, "the end of the traces");
  };

  test("sends the traces of each block with transactions, and of the last one", async () => {
    const client = await open();
    const config = { tracer: "callTracer" };
    const id = await client.call("debug_subscribe", "traceChain", "0x0", "latest", config);
    const notices = await untilBlock(client, id, last);
    assert.deepEqual(
      notices.map(({ block }) => Number(block)),
      [...Array.from({ length: LOOPS }, (_, i) => i + 1), last],
    );
    for (const notice of notices) await assertTraces(notice, config);
    assert.deepEqual(notices.at(-1)?.traces, []);
    assert.equal(await client.call("debug_unsubscribe", id), true);
    await assert.rejects(client.call("debug_unsubscribe", id));
    await closeAll();
  });

  test("sends the same over the IPC socket", async () => {
    const raw = await openRaw(node.ipcPath);
    const params = ["traceChain", "0x1", "0x2", { tracer: "callTracer" }];
    raw.socket.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "debug_subscribe", params }));
    const text = await raw.until('"traces"');
    const notice = JSON.parse(text.trim().split("\n")[1]!);
    assert.equal(notice.method, "debug_subscription");
    assert.equal(notice.params.subscription, JSON.parse(text.split("\n")[0]!).result);
    await assertTraces(notice.params.result, { tracer: "callTracer" });
    raw.socket.destroy();
    await closeAll();
  });

  test("a client that does not read has one block in memory, and receives all once it reads", async () => {
    const client = await open();
    const id = await client.call("debug_subscribe", "traceChain", "0x0", "latest", {});
    client.socket.pause();
    await until(unsentBytes, "a block that the client does not read");
    const one = JSON.stringify((await ask("debug_traceBlockByNumber", "0x1", {})).result).length;
    // Many turns of the event loop, in which a sender that does not wait would trace the rest.
    for (let i = 0; i < LOOPS; i++) await ask("debug_traceBlockByNumber", "0x1", {});
    assert.ok((await unsentBytes()) < 1.1 * one);
    assert.equal(await running(), 1);
    client.socket.resume();
    const notices = await untilBlock(client, id, last);
    assert.equal(notices.length, LOOPS + 1);
    for (const notice of notices.slice(0, 2)) await assertTraces(notice, {});
    await closeAll();
  });

  test("ends when its connection is closed or unsubscribes, also while nothing is read", async () => {
    const closing = await open();
    await closing.call("debug_subscribe", "traceChain", "0x0", "latest", {});
    closing.socket.pause();
    await until(unsentBytes, "a block that the client does not read");
    await closeAll();
    const client = await open();
    const id = await client.call("debug_subscribe", "traceChain", "0x0", "latest", {});
    await client.call("debug_unsubscribe", id);
    await until(async () => (await running()) === 0, "the end of the traces");
    const count = client.told(id).length;
    await client.call("debug_traceBlockByNumber", "0x1", {});
    assert.equal(client.told(id).length, count);
    await closeAll();
  });

  test("a limit bounds those of all connections", async () => {
    for (let i = 0; i < 2; i++) {
      const client = await open();
      await client.call("debug_subscribe", "traceChain", "0x0", "latest", {});
      client.socket.pause();
    }
    const labels = 'method="debug_subscribe",code="-32005"';
    const before = await metricOf(node, "rpc_errors_total", labels);
    const third = await open();
    await assert.rejects(third.call("debug_subscribe", "traceChain", "0x0", "latest", {}));
    assert.equal(await metricOf(node, "rpc_errors_total", labels), before + 1);
    await closeAll();
  });

  test("a block that cannot be traced in time says so for each transaction, and the next ones follow", async () => {
    const client = await open();
    const config = { timeout: "1ns" };
    const id = await client.call("debug_subscribe", "traceChain", "0x0", "0x2", config);
    const notices = await untilBlock(client, id, 2);
    assert.equal(notices.length, 2);
    for (const { traces } of notices) {
      assert.deepEqual(
        traces.map((trace) => Object.keys(trace)),
        [["txHash", "error"]],
      );
    }
    await closeAll();
  });

  test("rejects an empty range, unknown blocks, pending, and callers over HTTP", async () => {
    const client = await open();
    const rejected = [
      ["0x2", "0x2"],
      ["0x3", "0x2"],
      ["0x0", "0xffff"],
      ["0x0", "pending"],
    ];
    for (const [start, end] of rejected) {
      await assert.rejects(client.call("debug_subscribe", "traceChain", start, end));
    }
    await assert.rejects(client.call("debug_subscribe", "traceChain", "0x0"));
    await assert.rejects(client.call("debug_subscribe", "newHeads"));
    const { error } = await ask("debug_subscribe", "traceChain", "0x0", "latest");
    assert.equal(error?.code, METHOD_NOT_FOUND);
    assert.equal(await running(), 0);
    await closeAll();
  });
});
