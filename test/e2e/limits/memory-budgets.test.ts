import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { request } from "../../support/clients.ts";
import { assertRejectionCounted, awaitRejection, metricOf, WITH_METRICS } from "../../support/metrics.ts";
import { openRaw, type RawSocket } from "../../support/raw-socket.ts";
import { callHttp } from "../../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";
import { until } from "../../support/until.ts";
import { zerosCall } from "../../support/zeros-call.ts";

/** The sums over all connections and transports: of unread input, of unsent output, of subscriptions. */

/** Each process has its share of every limit (ADR 53): the same at any number of them, where the limits are as many times as large. */
const PROCESSES = Math.max(1, Number(process.env["TEST_PROCESSES"] ?? 0));
const INPUT_BYTES = PROCESSES << 20;
const OUTPUT_BYTES = PROCESSES * (8 << 20);
/** Of subscriptions, and of the terms of their filters, in each process. */
const SUBSCRIPTIONS = 5;
const TERMS = 10;

let node: TestNode;
before(async () => {
  node = await startTestNode({
    dev: true,
    settings: WITH_METRICS,
    limits: {
      server: { inputBytesMax: INPUT_BYTES, outputBytesMax: OUTPUT_BYTES },
      subscriptions: { max: PROCESSES * SUBSCRIPTIONS, termsMax: PROCESSES * TERMS },
    },
  });
});
after(() => node.stop());

const UPGRADE =
  "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const POST = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n";

async function openFrames(): Promise<RawSocket> {
  const raw = await openRaw(node.wsUrl.replace("ws:", "http:"));
  raw.socket.write(UPGRADE);
  await raw.until("\r\n\r\n");
  return raw;
}

/** What `open` returns, called as often as that, each time after the last. */
async function inTurn<T>(count: number, open: () => Promise<T>): Promise<readonly T[]> {
  const opened: T[] = [];
  while (opened.length < count) opened.push(await open());
  return opened;
}

/** A masked frame with a mask of zeros. */
function frame(firstByte: number, payload: string): Buffer {
  const head = Buffer.alloc(14);
  head[0] = firstByte;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, Buffer.from(payload)]);
}

const inputBytes = () => metricOf(node, "rpc_memory_bytes", 'budget="input"');

async function untilFree(): Promise<void> {
  await until(async () => (await inputBytes()) <= 100_000, "the end of earlier requests");
}

/** Opens a connection that holds `bytes` of a message it does not finish. */
const HOLDERS: Readonly<Record<string, (bytes: number) => Promise<RawSocket>>> = {
  http: async (bytes) => {
    const raw = await openRaw(node.url);
    raw.socket.write(POST + "[".padEnd(bytes));
    return raw;
  },
  "ws, one frame": async (bytes) => {
    const raw = await openFrames();
    raw.socket.write(frame(0x81, "x".repeat(bytes + 1)).subarray(0, -1));
    return raw;
  },
  "ws, fragments": async (bytes) => {
    const raw = await openFrames();
    raw.socket.write(frame(0x01, "x".repeat(bytes / 2)));
    raw.socket.write(frame(0x00, "x".repeat(bytes / 2)));
    return raw;
  },
  ipc: async (bytes) => {
    const raw = await openRaw(node.ipcPath);
    raw.socket.write(`["${"x".repeat(bytes)}`);
    return raw;
  },
};

for (const [name, hold] of Object.entries(HOLDERS)) {
  test(`unfinished messages over ${name}: the largest is rejected when all together are too many`, () =>
    assertRejectionCounted(node, name.split(",")[0]!, "inputMemory", async () => {
      await untilFree();
      const largest = await hold(400_000);
      await until(async () => (await inputBytes()) >= 400_000, "the largest request");
      const others = [];
      for (let i = 0; i < 4 * PROCESSES; i++) others.push(await hold(200_000));
      const text = await largest.closed;
      if (name === "http") assert.match(text, /^HTTP\/1.1 503 [\s\S]*-32005/);
      if (name.startsWith("ws")) assert.ok(text.includes("\u0003\u00f5"), "closed with 1013");
      assert.equal((await callHttp(node.url, "eth_chainId")).result, "0x7a69");
      assert.ok((await inputBytes()) <= INPUT_BYTES);
      for (const { socket } of others) socket.destroy();
    }));
}

test("a small honest request that waits survives a crowd of large ones", async () => {
  await untilFree();
  const honest = await openRaw(node.url);
  const body = request("eth_chainId");
  honest.socket.write(
    `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  );
  const crowd = await Promise.all(Array.from({ length: 12 }, () => HOLDERS["http"]!(200_000)));
  await Promise.race(crowd.map(({ closed }) => closed));
  honest.socket.write(body.slice(10));
  await honest.until("0x7a69");
  for (const { socket } of [honest, ...crowd]) socket.destroy();
});

test("unsent output: the slowest readers are cut when all together are too slow", () =>
  assertRejectionCounted(node, "http", "outputMemory", async () => {
    const batch = `[${Array(6).fill(zerosCall(1_000_000)).join(",")}]`;
    const untilCounted = await awaitRejection(node, "http", "outputMemory");
    const readers = [];
    for (let i = 0; i < 4; i++) {
      const raw = await openRaw(node.url);
      raw.socket.pause();
      raw.socket.write(
        `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${batch.length}\r\n\r\n${batch}`,
      );
      readers.push(raw);
    }
    await untilCounted();
    assert.ok((await metricOf(node, "rpc_memory_bytes", 'budget="output"')) <= OUTPUT_BYTES);
    for (const { socket } of readers) socket.destroy();
  }));

test("subscriptions of all connections together are limited, and so are the terms of their filters", async () => {
  const others: RawSocket[] = [];
  const ask = async (params: readonly unknown[]) => {
    // Each process is handed one connection, so that all that are used are on the first.
    const [raw, ...unused] = await inTurn(PROCESSES, openFrames);
    others.push(...unused);
    raw!.socket.write(frame(0x81, request("eth_subscribe", params)));
    return { ...raw!, text: await raw!.until("jsonrpc") };
  };
  const hash = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;
  const topics = (count: number) => [Array.from({ length: count }, (_, i) => hash(i))];
  const first = await ask(["logs", { topics: topics(8) }]);
  assert.match(first.text, /"result"/);
  const wide = await ask(["logs", { topics: topics(3) }]);
  assert.match(wide.text, /-32005/);
  const same = await ask(["logs", { topics: topics(8) }]);
  assert.match(same.text, /"result"/, "an equal filter is shared");
  const open = [first, wide, same];
  for (let i = 0; i < 3; i++) open.push(await ask(["newHeads"]));
  assert.equal(await metricOf(node, "rpc_subscriptions"), SUBSCRIPTIONS);
  const beyond = await ask(["newHeads"]);
  assert.match(beyond.text, /-32005/);
  first.socket.destroy();
  await until(async () => (await metricOf(node, "rpc_subscriptions")) < SUBSCRIPTIONS, "the end of a subscription");
  const next = await ask(["newHeads"]);
  assert.match(next.text, /"result"/);
  for (const { socket } of [...open, beyond, next, ...others]) socket.destroy();
});
