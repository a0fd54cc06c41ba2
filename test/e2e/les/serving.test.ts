import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { clientIdOf } from "../../../src/heritage/les/client-id.ts";
import { bearer, openWs, overHttp, request } from "../../support/clients.ts";
import { metricOf, WITH_METRICS } from "../../support/metrics.ts";
import { sendHttp } from "../../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";
import { until } from "../../support/until.ts";

const home = mkdtempSync(join(tmpdir(), "evmint-les-"));
after(() => rmSync(home, { recursive: true, force: true }));

let node: TestNode | undefined;
afterEach(() => node?.stop());

async function start(serve: number, processes = 0): Promise<TestNode> {
  const settings = {
    "les.serve": String(serve),
    "json-rpc.processes": String(processes),
    "json-rpc.gas-cap": "0",
    "json-rpc.evm-timeout": `${HEAVY_MS}ms`,
    ...WITH_METRICS,
  };
  node = await startTestNode({ dev: true, home, settings });
  return node;
}

/** A call of the owner, whom no share limits: what a call costs is the time that it took, which is long on a loaded machine. */
const ask = (method: string, params: readonly unknown[]) => node!.node.provider.request({ method, params });

const FREE = clientIdOf("ip", "127.0.0.1");
const PAYER = clientIdOf("key", "payer");
/** What a call of an endless loop costs at least: five buffers of a free client, which no pause of this machine fills again. */
const HEAVY_MS = 500;
const LOOP = {
  to: `0x${"aa".repeat(20)}`,
  override: { [`0x${"aa".repeat(20)}`]: { code: "0x5b5f56" } },
};
const heavyCall = request("eth_call", [{ to: LOOP.to, gas: "0xffffffffffff" }, "latest", LOOP.override]);
const freeze = { "pricing/timeFactor": 0, "pricing/capacityFactor": 0 };

for (const processes of [0, 2]) {
  const where = processes === 0 ? "" : `, whichever of ${processes} processes serves it`;
  test(`a free client beyond its capacity is rejected with the time to wait; a paying one is served${where}`, async () => {
    const { url } = await start(160, processes);
    const payer = bearer(home, { sub: "payer" });
    const added = [PAYER, "0x7fffffffffffffff", "qwerty"];
    assert.deepEqual(await ask("les_addBalance", added), [0, Number(2n ** 63n - 1n)]);
    await assert.rejects(ask("les_addBalance", added), { message: "balance overflow" });
    await overHttp(url, "eth_blockNumber", [], payer);
    const params = [[PAYER], { capacity: 1_000_000, ...freeze }];
    assert.equal(await ask("les_setClientParams", params), null);

    let rejected: { code: number; message: string; data: { retryAfterMs: number } } | undefined;
    for (let i = 0; i < 100 && rejected?.code !== -32005; i++) {
      rejected = (await sendHttp(url, heavyCall)).json.error;
    }
    assert.equal(rejected?.code, -32005);
    assert.equal(rejected.message, "Limit exceeded");
    assert.ok(rejected.data.retryAfterMs > 1000);
    assert.ok((await metricOf(node!, "les_limited_calls_total", 'kind="rejected"')) > 0);
    const { result, error } = await overHttp(url, "eth_blockNumber", [], payer);
    assert.equal(error, undefined);
    assert.equal(result, "0x0");

    // Without a bucket of its own a made-up API key is its address.
    const other = await sendHttp(url, request("eth_blockNumber"), { "x-api-key": "made up" });
    assert.equal(other.json.error?.code, -32005);
    // The socket file belongs to the owner.
    assert.equal(await node!.node.provider.request({ method: "eth_blockNumber" }), "0x0");

    const info = (await overHttp(url, "les_clientInfo", [[FREE, PAYER]], payer)).result as Record<
      string,
      Record<string, unknown>
    >;
    assert.deepEqual(Object.keys(info), [FREE, PAYER]);
    assert.equal(info[PAYER]!["capacity"], 1_000_000);
    assert.equal(info[PAYER]!["priority"], true);
    assert.equal(info[PAYER]!["pricing/balanceMeta"], "qwerty");
    assert.equal(info[FREE]!["isConnected"], true);
    assert.equal(info[FREE]!["pricing/balance"], 0);
    const server = (await overHttp(url, "les_serverInfo", [], payer)).result;
    assert.deepEqual(server, {
      minimumCapacity: 16_000,
      maximumCapacity: 1_600_000,
      freeClientCapacity: 16_000,
      totalCapacity: 1_600_000,
      totalConnectedCapacity: 1_016_000,
      priorityConnectedCapacity: 1_000_000,
    });
  });

  test(`balances survive a restart${where}`, async () => {
    const { url } = await start(0);
    const { result } = await overHttp(url, "les_priorityClientInfo", ["0".repeat(64), "0".repeat(64), 10]);
    const info = (result as Record<string, Record<string, unknown>>)[PAYER]!;
    assert.equal(info["isConnected"], false);
    assert.equal(info["pricing/balanceMeta"], "qwerty");
    assert.ok((info["pricing/balance"] as number) > 9e18);
  });

  test(`a WebSocket whose place is needed is closed with 1013${where}`, async () => {
    const { url, wsUrl } = await start(2, processes);
    await overHttp(url, "les_setDefaultParams", [freeze], bearer(home, { sub: "payer" }));
    // The payer holds the only place; when it wants none any more a stranger gets it.
    const rejected = await overHttp(url, "eth_blockNumber");
    assert.equal(rejected.error?.code, -32005);
    await node!.node.provider.request({
      method: "les_addBalance",
      params: [PAYER, "-0x7fffffffffffffff", "qwerty"],
    });
    await node!.node.provider.request({ method: "les_setConnectedBias", params: [0] });
    const payer = await openWs(wsUrl, bearer(home, { sub: "payer" }));
    payer.send(heavyCall);
    await new Promise((resolve) => payer.once("message", resolve));
    const closed = new Promise<number>((resolve) => payer.once("close", resolve));
    // Until the debt of that call is counted, which another process may report, both clients are equal.
    const number = async () => (await overHttp(url, "eth_blockNumber")).result;
    assert.equal(await until(number, "the place of the payer"), "0x0");
    assert.equal(await closed, 1013);
  });
}

test("subjects of tokens and addresses have shares of their own, which all tokens of a subject use together", async () => {
  const { url } = await start(160);
  const [shop, bank] = ["shop", "bank"].map((sub) => () => bearer(home, { sub, jti: randomUUID() }));
  const codeOf = async (body: string, headers: Record<string, string> = {}) =>
    (await sendHttp(url, body, headers)).json.error?.code as number | undefined;
  const cheapCall = request("eth_blockNumber");
  let rejected: number | undefined;
  for (let i = 0; i < 100 && rejected !== -32005; i++) rejected = await codeOf(heavyCall, shop!());
  assert.equal(rejected, -32005);
  assert.equal(await codeOf(cheapCall, shop!()), -32005);
  assert.equal(await codeOf(cheapCall, bank!()), undefined);
  assert.equal(await codeOf(cheapCall), undefined);
  const ids = ["shop", "bank"].map((name) => clientIdOf("key", name));
  const info = (await ask("les_clientInfo", [ids])) as Record<string, Record<string, number | boolean>>;
  const [used, other] = ids.map((id) => info[id]!);
  assert.deepEqual([used!["isConnected"], other!["isConnected"]], [true, true]);
  assert.ok((used!["pricing/negBalance"] as number) > (other!["pricing/negBalance"] as number));

  // With a balance and a capacity of its own it is served at once.
  await ask("les_addBalance", [ids[0], "0x7fffffffffffffff", "shop"]);
  const params = [[ids[0]], { capacity: 1_000_000, ...freeze }];
  assert.equal(await ask("les_setClientParams", params), null);
  await until(async () => (await codeOf(cheapCall, shop!())) === undefined, "the place of the subject");
});

test("bad parameters are rejected", async () => {
  const { url } = await start(0);
  for (const [method, params, code] of [
    ["les_addBalance", ["12", 1, ""], -32602],
    ["les_addBalance", [PAYER, 2 ** 53, ""], -32602],
    ["les_addBalance", [PAYER, "0x8000000000000000", ""], -32602],
    ["les_addBalance", [PAYER, "x", ""], -32602],
    ["les_addBalance", [PAYER], -32602],
    ["les_clientInfo", [PAYER], -32602],
    ["les_setClientParams", [[FREE], {}], -32000],
    ["les_setClientParams", [[], []], -32602],
    ["les_setDefaultParams", [{ capacity: 5 }], -32000],
    ["debug_freezeClient", [FREE], -32000],
  ] as const) {
    assert.equal((await overHttp(url, method, params)).error?.code, code, `${method} ${params}`);
  }
  const { error } = await overHttp(url, "les_addBalance", ["12", 1, ""]);
  assert.equal(error?.message, "invalid argument 0: wrong length, want 64 hex chars");
});

test("les_benchmark serves requests of each type for the time asked, and says what it cannot serve", async () => {
  const { url } = await start(0);
  const types = ["header", "body", "receipts", "proof", "code", "txSend", "txStatus"];
  const setups = [...types.map((type) => ({ type, amount: 10 })), { type: "cht" }];
  const { result } = await overHttp(url, "les_benchmark", [setups, 2, 5]);
  const measured = result as Record<string, number>[];
  for (const [index, type] of types.entries()) {
    const { totalCount, avgTime, maxInSize, maxOutSize } = measured[index]!;
    assert.ok(totalCount! >= 2 && totalCount! * avgTime! >= 9e6, type);
    assert.ok(maxInSize! > 5 && (maxOutSize! > 1 || type === "txSend"), type);
  }
  assert.deepEqual(measured.at(-1), { error: "no local checkpoint provided" });
  const pool = await overHttp(url, "txpool_status", []);
  assert.deepEqual(pool.result, { pending: "0x0", queued: "0x0" });
  for (const params of [
    [[{ type: "bloom" }], 1, 1],
    [[{ type: "constructor" }], 1, 1],
    [[{ type: "header" }], 1000, 1000],
    [Array(21).fill({ type: "header" }), 1, 1],
  ]) {
    assert.equal((await overHttp(url, "les_benchmark", params)).error?.code, -32602);
  }
});
