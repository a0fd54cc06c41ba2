import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { rawTransfer } from "../support/call-counts.ts";
import { startConfiguredNode } from "../support/configured-node.ts";
import { startEvmintd } from "../support/evmintd.ts";
import { type OtlpCollector, startOtlpCollector } from "../support/otlp-collector.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`;

type Answer = { readonly result?: string };

function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers: { "content-type": "application/json", ...headers } });
    sent.on("error", reject);
    sent.on("response", async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      resolve(JSON.parse(text) as Answer);
    });
    sent.end(JSON.stringify(body));
  });
}

const call = (method: string, ...params: unknown[]) => ({ jsonrpc: "2.0", id: 1, method, params });

const startDevNode = (settings: Readonly<Record<string, string>>) =>
  startTestNode({ dev: true, settings: { ...settings, "json-rpc.processes": "0" } });

async function sendTransfer({ url }: TestNode): Promise<void> {
  const { result } = await post(url, call("eth_sendRawTransaction", rawTransfer(0)));
  assert.match(result ?? "", /^0x[0-9a-f]{64}$/);
}

/** Runs `use` with a node that traces, and stops it, so that all spans are at the collector. */
async function traced(
  start: (settings: Readonly<Record<string, string>>) => Promise<TestNode>,
  use: (node: TestNode) => Promise<void>,
): Promise<OtlpCollector> {
  const collector = await startOtlpCollector();
  try {
    const node = await start({ "tracing.endpoint": collector.endpoint });
    try {
      await use(node);
    } finally {
      await node.stop();
    }
  } finally {
    collector.close();
  }
  return collector;
}

test("calls over HTTP are part of the trace of their caller, whichever code reads the request", async () => {
  const { named, spans } = await traced(startDevNode, async ({ url }) => {
    await post(url, call("eth_chainId"), { traceparent: TRACEPARENT });
    // A header that plain calls do not have: node:http reads this request.
    await post(url, call("net_version"), { traceparent: TRACEPARENT, "x-other": "1" });
    await post(url, [call("eth_gasPrice"), call("eth_blockNumber")], { traceparent: TRACEPARENT });
    await post(url, call("eth_syncing"), { traceparent: "00-nonsense" });
    await post(url, call("eth_noSuchMethod"), { traceparent: TRACEPARENT });
    await post(url, call("eth_getBalance", "nobody"), { traceparent: TRACEPARENT });
    await post(url, call("web3_clientVersion"));
  });
  const continued = ["eth_chainId", "net_version", "eth_gasPrice", "eth_blockNumber", "unknown", "eth_getBalance"];
  for (const name of continued) {
    const found = named(name).map(({ traceId, parentSpanId }) => [traceId, parentSpanId]);
    assert.deepEqual(found, [[TRACE, CALLER]], name);
  }
  for (const name of ["eth_syncing", "web3_clientVersion"]) {
    const [span] = named(name);
    assert.ok(span !== undefined && span.traceId !== TRACE && span.parentSpanId === undefined, name);
  }
  const [known, unknown, wrong] = ["eth_chainId", "unknown", "eth_getBalance"].map((name) => named(name)[0]!);
  assert.deepEqual([known!.status.code, known!.attributes["network.protocol.name"]], [0, "http"]);
  assert.deepEqual([unknown!.attributes["rpc.response.status_code"], unknown!.status.code], ["-32601", 2]);
  assert.equal(wrong!.attributes["error.type"], "RPC_INVALID_PARAMS");
  assert.ok(
    spans.every(({ name }) => !name.includes("noSuchMethod")),
    "the words of callers name no spans",
  );
});

test("a block is a span with the steps that its engine asks for", async () => {
  const { named } = await traced(startDevNode, async (node) => {
    await sendTransfer(node);
    await node.untilBlock(1);
  });
  const [block] = named("block");
  assert.ok(block !== undefined && block.parentSpanId === undefined);
  assert.equal(block.attributes["block.number"], 1);
  for (const name of ["prepare proposal", "process proposal", "finalize block", "commit block"]) {
    const [step] = named(name);
    assert.deepEqual([step?.traceId, step?.parentSpanId, step?.status.code], [block.traceId, block.spanId, 0], name);
  }
  assert.equal(named("finalize block")[0]!.attributes["block.transactions"], 1);
  assert.equal(named("process proposal")[0]!.attributes["proposal.accepted"], true);
});

test("a call that an RPC process forwards has a span in both processes", async () => {
  const { named } = await traced(
    (settings) => startConfiguredNode({ settings: { ...settings, "json-rpc.processes": "1" } }),
    async ({ url, node }) => {
      await node.processes!.ready();
      await post(url, call("txpool_content"), { traceparent: TRACEPARENT });
    },
  );
  const [outer] = named("txpool_content");
  const [inner] = named("txpool_content in the chain's process");
  assert.deepEqual([outer?.traceId, outer?.parentSpanId], [TRACE, CALLER]);
  assert.deepEqual([inner?.traceId, inner?.parentSpanId], [TRACE, outer!.spanId]);
  assert.notEqual(outer!.resource["process.pid"], inner!.resource["process.pid"]);
});

test("a node whose collector is down answers, makes blocks and stops", async () => {
  const collector = await startOtlpCollector();
  collector.close();
  const node = await startDevNode({ "tracing.endpoint": collector.endpoint });
  try {
    await sendTransfer(node);
    await node.untilBlock(1);
    assert.equal((await post(node.url, call("eth_blockNumber"))).result, "0x1");
  } finally {
    await node.stop();
  }
});

test("the log of a program that traces is JSON from its first byte", async () => {
  const collector = await startOtlpCollector();
  const home = mkdtempSync(join(tmpdir(), "evmint-tracing-"));
  try {
    const args = ["--dev", "--log.format", "json", "--log.level", "info", "--tracing.endpoint", collector.endpoint];
    const { url, child, exited, output } = await startEvmintd(home, args);
    await post(url, call("eth_chainId"), { traceparent: TRACEPARENT });
    child.kill("SIGTERM");
    assert.equal(await exited, 0);
    for (const line of output.stderr.trimEnd().split("\n")) assert.doesNotThrow(() => JSON.parse(line), line);
    assert.equal(collector.named("eth_chainId")[0]?.traceId, TRACE);
  } finally {
    rmSync(home, { recursive: true, force: true });
    collector.close();
  }
});
