import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { request } from "../../support/clients.ts";
import { assertRejectionCounted, metricOf, WITH_METRICS } from "../../support/metrics.ts";
import { callHttp } from "../../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";

/** An answer larger than the send buffer of its connection is bounded by its own limit and by the memory of all connections. */

const SEND_BUFFER_BYTES = 8 << 20;
/** RPC processes divide the memory of all connections; the chain's process, which serves IPC, has all of it. */
const SHARES = Number(process.env["TEST_PROCESSES"] ?? 0) || 1;
const OUTPUT_BYTES = SHARES * (32 << 20);
const TARGET = `0x${"aa".repeat(20)}`;
/** Memory of 100,000 bytes, which every step of the loop after it shows: JUMPDEST PUSH2 7 JUMP. */
const LOOP = "0x600162018680535b61000756";
/** For 100 steps, 15 MiB of text or more. */
const GAS = 49_900;
const LINE_END = 0x0a;

const largeTrace = request("debug_traceCall", [
  { to: TARGET, gas: `0x${GAS.toString(16)}` },
  "latest",
  { enableMemory: true, timeout: "60s", stateOverrides: { [TARGET]: { code: LOOP } } },
]);

let node: TestNode;
before(async () => {
  node = await startTestNode({
    dev: true,
    settings: WITH_METRICS,
    limits: { server: { outputBytesMax: OUTPUT_BYTES, socketSendBufferBytesMax: SEND_BUFFER_BYTES } },
  });
});
after(() => node.stop());

const outputBytes = () => metricOf(node, "rpc_memory_bytes", 'budget="output"');

async function openWs(): Promise<WebSocket> {
  const ws = new WebSocket(node.wsUrl, { maxPayload: 1 << 28 });
  await new Promise((resolve) => ws.once("open", resolve));
  return ws;
}

function nextMessage(ws: WebSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    ws.once("message", (data) => resolve(data.toString()));
    ws.once("close", (code) => reject(new Error(`closed with ${code}`)));
  });
}

function assertWholeTrace(text: string): void {
  assert.ok(text.length > 12 << 20, `${text.length} bytes are no large answer`);
  const { structLogs } = JSON.parse(text).result;
  assert.ok(structLogs.length > 60);
  assert.equal(structLogs.at(-1).memory.length, 3_125);
}

test("a trace larger than its send buffer arrives over WebSocket, and what is asked meanwhile after it", async () => {
  const ws = await openWs();
  ws.send(largeTrace);
  const large = nextMessage(ws);
  ws.send(request("eth_subscribe", ["newHeads"]));
  assertWholeTrace(await large.then((text) => (text.length > 1000 ? text : nextMessage(ws))));
  ws.send(largeTrace);
  ws.ping();
  const [text] = await Promise.all([nextMessage(ws), new Promise((resolve) => ws.once("pong", resolve))]);
  assertWholeTrace(text);
  const head = nextMessage(ws);
  node.produceBlock();
  assert.equal(JSON.parse(await head).method, "eth_subscription");
  ws.terminate();
});

test("a trace larger than its send buffer arrives over IPC, and the next answer after it", async () => {
  const socket = connect(node.ipcPath);
  const chunks: Buffer[] = [];
  socket.write(`${largeTrace}${request("eth_chainId")}`);
  // Either of the two may be answered first; both end with a line end.
  let lines = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    for (const byte of chunk) if (byte === LINE_END) lines++;
    if (lines === 2) break;
  }
  const [first, second] = Buffer.concat(chunks).toString().split("\n") as [string, string];
  assertWholeTrace(first.length > second.length ? first : second);
  const short = first.length > second.length ? second : first;
  assert.equal(JSON.parse(short).result, "0x7a69");
});

test("clients that stop reading hold no more than the memory of all connections, and those that read get their answers", () =>
  assertRejectionCounted(node, "ipc", "outputMemory", async () => {
    const before = await answered();
    const deaf = Array.from({ length: 4 * SHARES }, () => connect(node.ipcPath).on("error", () => {}));
    for (const socket of deaf) socket.pause().write(largeTrace);
    let peak = 0;
    while ((await answered()) < before + deaf.length) {
      peak = Math.max(peak, await outputBytes());
      assert.equal((await callHttp(node.url, "eth_chainId")).result, "0x7a69");
    }
    assert.ok(peak > SEND_BUFFER_BYTES && peak <= OUTPUT_BYTES, `${peak} bytes were unsent`);
    const ws = await openWs();
    ws.send(largeTrace);
    assertWholeTrace(await nextMessage(ws));
    ws.terminate();
    for (const socket of deaf) socket.destroy();
  }));

function answered(): Promise<number> {
  return metricOf(node, "rpc_request_duration_seconds_count", 'method="debug_traceCall"');
}
