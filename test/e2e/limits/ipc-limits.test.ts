import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { overIpc, request } from "../../support/clients.ts";
import { assertRejectionCounted, awaitRejection, metricOf, rejections, WITH_METRICS } from "../../support/metrics.ts";
import { openRaw } from "../../support/raw-socket.ts";
import { NEEDS_SOLO } from "../../support/test-engine.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";
import { until } from "../../support/until.ts";
import { slowBatch, zerosCall } from "../../support/zeros-call.ts";

let node: TestNode;
before(async () => {
  node = await startTestNode({
    dev: true,
    settings: { "json-rpc.body-limit": "64KiB", ...WITH_METRICS },
    limits: {
      server: {
        ipcConnectionsMax: 4,
        socketPauseBytes: 64 << 10,
        socketSendBufferBytesMax: 4 << 20,
        notificationBufferBytesMax: 100_000,
      },
    },
  });
});
after(() => node.stop());

const BLOCKS_MAX = 2000;

const assertCounted = (reason: string, work: () => Promise<void>) => assertRejectionCounted(node, "ipc", reason, work);

const open = () => metricOf(node, "rpc_connections", 'transport="ipc"');

test("connections beyond the limit are closed", () =>
  assertCounted("connections", async () => {
    const held = await Promise.all([1, 2, 3, 4].map(() => openRaw(node.ipcPath)));
    await until(async () => (await open()) === 4, "four connections");
    assert.equal(await (await openRaw(node.ipcPath)).closed, "");
    for (const { socket } of held) socket.destroy();
    await until(async () => (await open()) === 0, "the end of all connections");
    assert.equal((await overIpc(node.ipcPath, "eth_chainId")).result, "0x7a69");
  }));

test("a message over the limit ends the connection", () =>
  assertCounted("message", async () => {
    const { socket, closed } = await openRaw(node.ipcPath);
    socket.write(`["${"x".repeat(100_000)}`);
    await closed;
  }));

test("answers that nobody reads end the connection, and no more calls are run for it", () =>
  assertCounted("sendBuffer", async () => {
    const { socket, closed } = await openRaw(node.ipcPath);
    const untilCounted = await awaitRejection(node, "ipc", "sendBuffer");
    socket.pause();
    socket.write(slowBatch(10, 1_000_000).repeat(2));
    await untilCounted();
    socket.resume();
    await closed;
  }));

test("a client that asks and does not read holds up nobody but itself", async () => {
  const { socket } = await openRaw(node.ipcPath);
  socket.pause();
  const calls = () => metricOf(node, "rpc_request_duration_seconds_count", 'method="eth_call"');
  const before = await calls();
  socket.write(zerosCall(1_000_000));
  // Until its answer waits for the client, calls that follow may begin.
  await until(async () => (await calls()) > before, "the first answer");
  for (let i = 0; i < 50; i++) {
    socket.write(zerosCall(1_000_000));
    await new Promise(setImmediate);
  }
  // Twice as many turns of others as the client would need.
  for (let i = 0; i < 100; i++) assert.equal((await overIpc(node.ipcPath, "eth_chainId")).result, "0x7a69");
  assert.ok((await calls()) - before < 50);
  socket.destroy();
});

test("a subscriber that does not read is cut", { skip: NEEDS_SOLO }, () =>
  assertCounted("notifications", async () => {
    const { socket, until, closed } = await openRaw(node.ipcPath);
    socket.write(request("eth_subscribe", ["newHeads"]).repeat(100));
    await until("result");
    const before = await rejections(node, "ipc", "notifications");
    socket.pause();
    // A hundred heads a block: how much of them the system stores differs.
    for (let i = 0; i < BLOCKS_MAX && (await rejections(node, "ipc", "notifications")) === before; i++)
      node.produceBlock();
    socket.resume();
    await closed;
  }),
);
