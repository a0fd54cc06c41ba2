import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { LimitChanges } from "../../../src/node/config/config.ts";
import { request } from "../../support/clients.ts";
import { metricOf, rejections, WITH_METRICS } from "../../support/metrics.ts";
import { sendHttp } from "../../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";

/** Small enough to be reached by one small request. */
const LIMITS: LimitChanges = {
  server: {
    batchResponseBytesMax: 1024,
    jsonDepthMax: 8,
    jsonItemsMax: 400,
    idBytesMax: 64,
    methodNameCharsMax: 64,
  },
  calls: { traceTimeoutMsMax: 20, filterTermsMax: 8, feeHistoryBlocksMax: 2, otsPageSizeMax: 5 },
  filters: { max: 4, termsMax: 10 },
};
const SETTINGS = {
  "json-rpc.batch-limit": "5",
};

let node: TestNode;
before(async () => {
  node = await startTestNode({
    dev: true,
    settings: { ...SETTINGS, ...WITH_METRICS },
    limits: LIMITS,
  });
});
after(() => node.stop());

const ask = async (body: string) => (await sendHttp(node.url, body)).json;
const addresses = (count: number) => Array.from({ length: count }, (_, n) => `0x${n.toString(16).padStart(40, "0")}`);
const newFilter = request("eth_newFilter", [{ address: addresses(8) }]);
const newBlockFilter = request("eth_newBlockFilter");

/** A request beyond it is counted by reason as rejected, or as an error of a method. */
type Breach = {
  readonly limit: string;
  /** Requests within the limit. */
  readonly good: readonly string[];
  /** One beyond it, and the code of its error. */
  readonly bad: string;
  readonly code: number;
  readonly counted: { readonly rejected: string } | { readonly errorsOf: string };
};

const BREACHES: readonly Breach[] = [
  {
    limit: "filter terms",
    good: [request("eth_getLogs", [{ address: addresses(8) }])],
    bad: request("eth_getLogs", [{ address: addresses(9) }]),
    code: -32000,
    counted: { errorsOf: "eth_getLogs" },
  },
  {
    limit: "terms of all filters",
    good: [newFilter],
    bad: newFilter,
    code: -32005,
    counted: { errorsOf: "eth_newFilter" },
  },
  {
    limit: "filters",
    // Besides the one above.
    good: [newBlockFilter, newBlockFilter, newBlockFilter],
    bad: newBlockFilter,
    code: -32005,
    counted: { errorsOf: "eth_newBlockFilter" },
  },
  {
    limit: "page of an ots method",
    good: [request("ots_getBlockTransactions", [0, 0, 5])],
    bad: request("ots_getBlockTransactions", [0, 0, 6]),
    code: -32602,
    counted: { errorsOf: "ots_getBlockTransactions" },
  },
  {
    limit: "calls of a batch",
    good: [batchOf(5)],
    bad: batchOf(6),
    code: -32600,
    counted: { rejected: "batch" },
  },
  {
    limit: "levels of a request",
    good: [request("web3_sha3", ["0x"])],
    bad: request("web3_sha3", [JSON.parse(`${"[".repeat(9)}${"]".repeat(9)}`)]),
    code: -32600,
    counted: { rejected: "json" },
  },
  {
    limit: "values of a request",
    good: [request("web3_sha3", ["0x"])],
    bad: request("web3_sha3", Array(401).fill(0)),
    code: -32600,
    counted: { rejected: "json" },
  },
  {
    limit: "id",
    good: [withId(60)],
    bad: withId(65),
    code: -32600,
    counted: { rejected: "request" },
  },
  {
    limit: "method name",
    good: [request("eth_chainId")],
    bad: request("x".repeat(65)),
    code: -32600,
    counted: { errorsOf: "unknown" },
  },
];

function batchOf(count: number): string {
  return `[${Array(count).fill(request("eth_chainId")).join(",")}]`;
}

function withId(length: number): string {
  return JSON.stringify({ jsonrpc: "2.0", id: "x".repeat(length), method: "eth_chainId" });
}

for (const { limit, good, bad, code, counted } of BREACHES) {
  test(`${limit}: a request beyond the limit is rejected and counted, one within it is served`, async () => {
    const count = () =>
      "rejected" in counted
        ? rejections(node, "http", counted.rejected)
        : metricOf(node, "rpc_errors_total", `method="${counted.errorsOf}",code="${code}"`);
    for (const body of good) {
      const answers = [await ask(body)].flat();
      for (const answer of answers) assert.equal(answer.error, undefined, JSON.stringify(answer));
    }
    const before = await count();
    const [answer] = [await ask(bad)].flat();
    assert.equal(answer.error?.code, code, JSON.stringify(answer));
    assert.equal(await count(), before + 1);
  });
}

test("answer of a batch: the calls after the one that passes it are not run, and this is counted", async () => {
  const block = request("eth_getBlockByNumber", ["latest", true]);
  const before = await rejections(node, "http", "batchResponse");
  const answers: { error?: { code: number } }[] = await ask(`[${Array(4).fill(block).join(",")}]`);
  assert.equal(answers.length, 4);
  assert.equal(answers[0]?.error, undefined);
  assert.equal(answers.at(-1)?.error?.code, -32003);
  assert.equal(await rejections(node, "http", "batchResponse"), before + 1);
});

test("time of a trace: a caller cannot ask for more time", async () => {
  const to = `0x${"aa".repeat(20)}`;
  const loop = { [to]: { code: "0x5b5f56" } };
  const tracing = { tracer: "callTracer", timeout: "1h", stateOverrides: loop };
  const { error } = await ask(request("debug_traceCall", [{ to }, "latest", tracing]));
  const labels = `method="debug_traceCall",code="${error?.code}"`;
  assert.equal(await metricOf(node, "rpc_errors_total", labels), 1);
  assert.match(error.message, /timeout/);
});

test("fee history: no more blocks than that are looked at", async () => {
  const { result: accounts } = await ask(request("eth_accounts"));
  const transfer = { from: accounts[0], to: accounts[0], value: "0x0" };
  for (let i = 0; i < 3; i++) {
    assert.ok((await ask(request("eth_sendTransaction", [transfer]))).result);
  }
  const { result: head } = await ask(request("eth_blockNumber"));
  assert.ok(Number(head) >= 3);
  const { result } = await ask(request("eth_feeHistory", ["0x10", "latest", []]));
  assert.equal(result.gasUsedRatio.length, 2);
});
