import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { openWs } from "../../support/clients.ts";
import { metricOf, WITH_METRICS } from "../../support/metrics.ts";
import { callHttp } from "../../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";
import { until } from "../../support/until.ts";

const TARGET = "0x00000000000000000000000000000000000000aa";
/** An endless loop: it runs until its gas is gone, some 20 ms. */
const BODY = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "eth_call",
  params: [{ to: TARGET }, "latest", { [TARGET]: { code: "0x5b600056" } }],
});
/** Blocks are due much more often than a crowd of so many has its turn. */
const CLIENTS = 256;
const BLOCKS = 5;

let node: TestNode;
before(async () => {
  node = await startTestNode({
    dev: true,
    settings: {
      "consensus.block-time": "100ms",
      "json-rpc.gas-cap": "10000000",
      ...WITH_METRICS,
    },
    limits: { server: { callQueueMax: 2 * CLIENTS, socketCallsMax: 4 * CLIENTS } },
  });
});
after(() => node.stop());

test(`${CLIENTS} clients that hammer endless loops do not hold up the blocks`, async () => {
  const crowd = hammer(CLIENTS);
  await crowd.firstAnswers;
  const answeredAt: number[] = [];
  await new Promise<void>((resolve) => {
    const unsubscribe = node.node.core.chain.subscribe(() => {
      answeredAt.push(crowd.answered());
      if (answeredAt.length <= BLOCKS) return;
      unsubscribe();
      resolve();
    });
  });
  await crowd.stop();
  const between = answeredAt.slice(1).map((count, i) => count - answeredAt[i]!);
  // Behind the queue a block would wait for all of them. Of a busy machine fewer are answered.
  assert.ok(Math.max(...between) < CLIENTS, `calls answered from block to block: ${between}`);
});

test("one connection with a hundred calls in one packet delays another's by one", async () => {
  const greedy = await sendPipelined(BODY, 100);
  for (let i = 0; i < 10; i++) await callHttp(node.url, "eth_call", [{ to: TARGET, gas: "0x5208" }]);
  const isStillBusy = greedy.answered() < 100;
  greedy.socket.destroy();
  assert.ok(isStillBusy, "the hundred calls must take longer than the ten");
});

test("calls beyond the queue's limit are refused with -32005, and those of a lost client are not run", async () => {
  const ws = await openWs(node.wsUrl);
  const refused = new Promise<void>((resolve) => {
    ws.on("message", (text) => {
      if (JSON.parse(text.toString()).error?.code === -32005) resolve();
    });
  });
  for (let i = 0; i < 3 * CLIENTS; i++) ws.send(BODY);
  await refused;
  ws.terminate();
  const busy = await metricOf(node, "rpc_errors_total", 'method="eth_call",code="-32005"');
  assert.ok(busy > 0);
  const ran = () => metricOf(node, "rpc_request_duration_seconds_count", 'method="eth_call"');
  const before = await ran();
  await until(async () => (await metricOf(node, "rpc_calls_waiting")) === 0, "the end of the queue");
  assert.ok((await ran()) - before < CLIENTS, "calls of a closed connection still wait");
});

/** Sends `BODY` over `clients` connections, each the next when it has its answer. */
function hammer(clients: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  let isStopped = false;
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
  const first: Promise<void>[] = [];
  const all = Array.from({ length: clients }, async () => {
    const answer = send();
    first.push(answer);
    await answer;
    while (!isStopped) await send();
  });
  return {
    answered: () => answered,
    /** Once half of the crowd has had its turn. */
    firstAnswers: Promise.all(first.slice(0, clients / 2)),
    async stop() {
      isStopped = true;
      await Promise.all(all);
      agent.destroy();
    },
  };
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
  await until(answered, "the first answer");
  return { socket, answered };
}
