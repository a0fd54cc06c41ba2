import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { after, before, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { callHttp } from "../../../src/rpc/testing/rpc-client.ts";
import { openWs } from "../../support/clients.ts";
import { metricOf, WITH_METRICS } from "../../support/metrics.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";

const TARGET = "0x00000000000000000000000000000000000000aa";
/** An endless loop: it runs until its gas is gone, some 20 ms. */
const BODY = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "eth_call",
  params: [{ to: TARGET }, "latest", { [TARGET]: { code: "0x5b600056" } }],
});
const BLOCK_TIME_MS = 500;

let node: TestNode;
before(async () => {
  node = await startTestNode({
    dev: true,
    settings: {
      "consensus.block-time": `${BLOCK_TIME_MS}ms`,
      "json-rpc.gas-cap": "10000000",
      ...WITH_METRICS,
    },
    limits: { server: { callQueueMax: 100 } },
  });
});
after(() => node.stop());

test("64 clients that hammer endless loops do not hold up the blocks", async (t) => {
  const times: number[] = [];
  const unsubscribe = node.node.core.chain.subscribe(() => times.push(performance.now()));
  const answered = await hammer(64, 4_000);
  unsubscribe();
  const gaps = times.slice(1).map((time, i) => time - times[i]!);
  gaps.sort((a, b) => a - b);
  report(t, `${answered} calls, ${times.length} blocks`, gaps);
  // 64 calls one after another would take longer than this.
  assert.ok(gaps.at(-1)! < BLOCK_TIME_MS + 700, `a block came ${gaps.at(-1)} ms after another`);
});

test("one connection with a hundred calls in one packet delays another's by one", async (t) => {
  const greedy = await sendPipelined(BODY, 100);
  const delays: number[] = [];
  for (let i = 0; i < 10; i++) {
    const start = performance.now();
    await callHttp(node.url, "eth_call", [{ to: TARGET, gas: "0x5208" }]);
    delays.push(performance.now() - start);
  }
  const isStillBusy = greedy.answered() < 100;
  greedy.socket.destroy();
  report(
    t,
    "small call beside a hundred large ones",
    delays.sort((a, b) => a - b),
  );
  assert.ok(isStillBusy, "the hundred calls must take longer than the ten");
});

test("calls beyond the queue's limit are refused with -32005, and those of a lost client are not run", async () => {
  const ws = await openWs(node.wsUrl);
  const refused = new Promise<void>((resolve) => {
    ws.on("message", (text) => {
      if (JSON.parse(text.toString()).error?.code === -32005) resolve();
    });
  });
  for (let i = 0; i < 150; i++) ws.send(BODY);
  await refused;
  ws.terminate();
  const busy = await metricOf(node, "rpc_errors_total", 'method="eth_call",code="-32005"');
  assert.ok(busy > 0);
  const start = performance.now();
  while ((await metricOf(node, "rpc_calls_waiting")) > 0) {
    assert.ok(performance.now() - start < 1000, "calls of a closed connection still wait");
  }
});

function report(t: TestContext, what: string, sorted: readonly number[]): void {
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1]?.toFixed(0);
  t.diagnostic(`${what}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
}

/** Sends `BODY` over `clients` connections, each the next when it has its answer; how many were answered. */
async function hammer(clients: number, forMs: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const end = performance.now() + forMs;
  let answered = 0;
  const send = () =>
    new Promise<void>((resolve, reject) => {
      const headers = { "content-type": "application/json" };
      const sent = request(node.url, { method: "POST", agent, headers }, (response) => {
        response.resume().once("end", () => resolve());
        answered++;
      });
      sent.once("error", reject).end(BODY);
    });
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < end) await send();
    }),
  );
  agent.destroy();
  return answered;
}

async function sendPipelined(body: string, count: number) {
  const { hostname, port } = new URL(node.url);
  const socket = connect(Number(port), hostname);
  const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.write((head + body).repeat(count));
  const answered = () => text.split("HTTP/1.1 200").length - 1;
  while (answered() === 0) await setImmediate();
  return { socket, answered };
}
