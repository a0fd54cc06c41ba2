import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { SCHEMA } from "../../../src/config/schema.ts";
import { sendHttp } from "../../../src/rpc/testing/rpc-client.ts";
import { request } from "../../support/clients.ts";
import { metricOf, rejections, WITH_METRICS } from "../../support/metrics.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";

/*
 * Every limit of the RPC server and the pool: a default and a key (both in `SCHEMA`), a test that reaches it, and the metric that
 * counts what it rejects. A setting with a number that is missing here fails the first test.
 */

const HERE = "test/e2e/limits/limit-keys.test.ts";
const HTTP = "test/e2e/limits/http-limits.test.ts";
const WS = "test/e2e/limits/ws-limits.test.ts";
const IPC = "test/e2e/limits/ipc-limits.test.ts";
const MEMORY = "test/e2e/limits/memory-budgets.test.ts";
const EVM = "test/e2e/limits/evm-limits.test.ts";
const POOL = "src/mempool/mempool.test.ts";
const LOGS = "src/adapters/log-search.test.ts";

/** Where the metric comes from: `rpc_rejected_total{reason}`, `rpc_errors_total{code}` or `txpool_removed_total{reason}`. */
type Metric =
  | { readonly rejected: string }
  | { readonly error: string }
  | { readonly removed: string }
  /** Nothing is rejected: why. */
  | { readonly none: string };

/** The test file, what it calls the limit where that is not the key, and the metric. */
type Proof = readonly [test: string, metric: Metric, name?: string];

const PROOFS: Readonly<Record<string, Proof>> = {
  "mempool.account-slots": [POOL, { error: "POOL_ACCOUNT_LIMIT_EXCEEDED" }, "accountSlots"],
  "mempool.account-queue": [POOL, { error: "POOL_ACCOUNT_LIMIT_EXCEEDED" }, "accountQueue"],
  "mempool.size-limit": [POOL, { error: "POOL_FULL" }, "bytesMax"],
  "mempool.queue-size-limit": [POOL, { error: "POOL_FULL" }, "queuedBytesMax"],
  "mempool.blob-size-limit": [POOL, { error: "POOL_FULL" }, "blobBytesMax"],
  "mempool.blob-verifications": [
    "src/node/adapters/blob-workers.test.ts",
    { error: "POOL_BLOB_QUEUE_FULL" },
    "blobVerificationsMax",
  ],
  "mempool.blob-proofs": [
    "src/node/adapters/blob-workers.test.ts",
    { error: "POOL_BLOB_QUEUE_FULL" },
    "blobProofsMax",
  ],
  "mempool.lifetime": [POOL, { removed: "expired" }, "removeStale"],
  "mempool.price-limit": [POOL, { error: "POOL_GAS_PRICE_BELOW_MINIMUM" }, "minimumTip"],
  "mempool.price-bump": [POOL, { error: "POOL_REPLACEMENT_UNDERPRICED" }, "UNDERPRICED"],
  "evm.compile-cache-size": [
    "src/node/adapters/compiled/threaded-compiler.test.ts",
    { none: "contracts beyond it run in the interpreter" },
    "compiled_contract_bytes",
  ],
  "evm.compile-files-size": [
    "src/node/adapters/compiled/module-files.test.ts",
    { none: "the least recently used are removed" },
    "bytesMax",
  ],
  "json-rpc.gas-cap": [EVM, { none: "a call gets this much gas at most" }],
  "json-rpc.evm-timeout": [EVM, { error: "EXECUTION_TIMEOUT" }],
  "json-rpc.evm-memory-limit": [EVM, { error: "EXECUTION_HALTED" }],
  "json-rpc.ots-page-size": [HERE, { error: "RPC_INVALID_PARAMS" }],
  "json-rpc.trace-filter-blocks": ["test/e2e/trace-methods.test.ts", { error: "RPC_TRACE_RANGE" }],
  "json-rpc.bad-blocks-limit": [
    "src/chain/inspect/bad-blocks.test.ts",
    { none: "older ones are dropped" },
    "countMax",
  ],
  "json-rpc.bad-blocks-size-limit": [
    "src/chain/inspect/bad-blocks.test.ts",
    { none: "older ones are dropped" },
    "bytesMax",
  ],
  "json-rpc.trace-chains": ["test/e2e/trace-chain.test.ts", { error: "RPC_TOO_MANY" }],
  "json-rpc.trace-timeout": [
    "src/tracing/tracers.test.ts",
    { error: "TRACE_TIMEOUT" },
    "timeoutMs",
  ],
  "json-rpc.trace-timeout-limit": [HERE, { error: "TRACE_TIMEOUT" }],
  "json-rpc.trace-size-limit": [
    "src/tracing/tracers.test.ts",
    { error: "TRACE_TOO_LARGE" },
    "charsMax",
  ],
  "json-rpc.trace-script-memory": [
    "src/tracing/js/js-tracer.test.ts",
    { error: "TRACE_SCRIPT_FAILED" },
    "scriptMemoryBytesMax",
  ],
  "json-rpc.return-limit": [
    "src/execution/call/call.test.ts",
    { error: "CALL_RETURN_TOO_LARGE" },
    "returnBytesMax",
  ],
  "json-rpc.fee-cap": [
    "src/mempool/submission.test.ts",
    { error: "RPC_FEE_CAP_EXCEEDED" },
    "txFeeWeiMax",
  ],
  "json-rpc.logs-limit": [LOGS, { error: "RPC_LOG_LIMIT" }, "resultsMax"],
  "json-rpc.logs-size-limit": [LOGS, { error: "RPC_LOG_LIMIT" }, "bytesMax"],
  "json-rpc.logs-work-limit": [LOGS, { error: "RPC_LOG_LIMIT" }, "workMax"],
  "json-rpc.filter-terms-limit": [HERE, { error: "RPC_LOG_FILTER_TERMS" }],
  "json-rpc.filter-timeout": [
    "src/rpc/methods/eth/filters.test.ts",
    { error: "RPC_FILTER_NOT_FOUND" },
    "300_001",
  ],
  "json-rpc.filters-limit": [HERE, { error: "RPC_TOO_MANY" }],
  "json-rpc.total-filter-terms-limit": [HERE, { error: "RPC_TOO_MANY" }],
  "json-rpc.connection-filters-limit": [
    "src/rpc/methods/eth/filters.test.ts",
    { error: "RPC_TOO_MANY" },
    "maxPerConnection",
  ],
  "json-rpc.subscriptions-limit": [
    "src/rpc/methods/eth/subscriptions.test.ts",
    { error: "RPC_TOO_MANY" },
    "subscriptionsMax",
  ],
  "json-rpc.total-subscriptions-limit": [MEMORY, { error: "RPC_TOO_MANY" }],
  "json-rpc.subscription-terms-limit": [MEMORY, { error: "RPC_TOO_MANY" }],
  "json-rpc.notification-queue-limit": [
    "src/rpc/methods/subscriptions/notifier.test.ts",
    { rejected: "notifications" },
    "queueCharsMax",
  ],
  "json-rpc.fee-history-limit": [HERE, { none: "older blocks are left out" }],
  "json-rpc.body-limit": [HTTP, { rejected: "body" }],
  "json-rpc.ws-message-limit": [WS, { rejected: "frame" }],
  "json-rpc.batch-limit": [HERE, { rejected: "batch" }],
  "json-rpc.batch-response-limit": [HERE, { rejected: "batchResponse" }],
  "json-rpc.depth-limit": [HERE, { rejected: "json" }],
  "json-rpc.items-limit": [HERE, { rejected: "json" }],
  "json-rpc.id-limit": [HERE, { rejected: "request" }],
  "json-rpc.method-name-limit": [HERE, { error: "RPC_INVALID_REQUEST" }],
  "json-rpc.connections-limit": [HTTP, { rejected: "connections" }],
  "json-rpc.ws-connections-limit": [WS, { rejected: "connections" }],
  "json-rpc.ipc-connections-limit": [IPC, { rejected: "connections" }],
  "json-rpc.headers-timeout": [HTTP, { rejected: "timeout" }],
  "json-rpc.body-timeout": [HTTP, { rejected: "timeout" }],
  "json-rpc.reply-timeout": [HTTP, { rejected: "slowReader" }],
  "json-rpc.idle-timeout": [HTTP, { none: "nothing is asked on the connection" }],
  "json-rpc.call-timeout": [
    "src/rpc/transport/server/server.test.ts",
    { error: "RPC_TIMEOUT" },
    "httpCallTimeoutMs",
  ],
  "json-rpc.ws-ping-interval": [WS, { rejected: "silent" }],
  "json-rpc.socket-calls-limit": [WS, { none: "reading is paused" }],
  "json-rpc.call-queue-limit": ["test/e2e/limits/overload.test.ts", { error: "RPC_TOO_MANY" }],
  "json-rpc.socket-pause-size": [WS, { none: "reading is paused" }],
  "json-rpc.send-buffer-limit": [WS, { rejected: "sendBuffer" }],
  "json-rpc.notification-buffer-limit": [WS, { rejected: "notifications" }],
  "json-rpc.input-memory-limit": [MEMORY, { rejected: "inputMemory" }],
  "json-rpc.output-memory-limit": [MEMORY, { rejected: "outputMemory" }],
  "json-rpc.bad-tokens-limit": [
    "test/security/private-methods.test.ts",
    { rejected: "tokenLimit" },
  ],
  "json-rpc.bad-token-pause": [
    "src/rpc/transport/auth/authenticator.test.ts",
    { rejected: "tokenLimit" },
    "pauseMsMax",
  ],
};

/** Numbers that bound nothing. */
const NOT_LIMITS: ReadonlySet<string> = new Set([
  "minimum-gas-prices",
  // A cache drops what was not used; its size is checked with it.
  "json-rpc.block-cache-size",
  // Calls beyond what the threads do at once wait in the bounded call queue.
  "json-rpc.workers",
  // The kernel holds connections until one of them, or the chain's process, accepts.
  "json-rpc.processes",
]);

const GROUPS = ["evm", "mempool", "jsonRpc", "rpcLimits", "access"] as const;
const numericKeys = GROUPS.flatMap((group) =>
  Object.values(SCHEMA[group])
    .filter((option) => ["number", "bigint"].includes(typeof option.default))
    .map(({ key }) => key),
).filter((key) => !NOT_LIMITS.has(key));

test("every limit has a test that names it and a metric", () => {
  assert.deepEqual(Object.keys(PROOFS).sort(), [...numericKeys].sort());
  for (const [key, [file, , name]] of Object.entries(PROOFS)) {
    const text = readFileSync(file, "utf8");
    // Here a breach of the key has to follow below.
    const body = file === HERE ? text.slice(text.indexOf("const SMALL")) : text;
    assert.ok(body.includes(name ?? `"${key}"`), `${file} does not name ${name ?? key}`);
  }
  const sources = sourceFiles("src").map((file) => readFileSync(file, "utf8"));
  for (const [key, [, metric]] of Object.entries(PROOFS)) {
    if ("none" in metric) continue;
    const label = JSON.stringify(Object.values(metric)[0]);
    assert.ok(
      sources.some((text) => text.includes(label)),
      `${key}: nothing counts ${label}`,
    );
  }
});

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => join(folder, file));
}

/** Small enough to be reached by one small request. */
const SMALL = {
  "json-rpc.filter-terms-limit": "8",
  "json-rpc.filters-limit": "4",
  "json-rpc.total-filter-terms-limit": "10",
  "json-rpc.fee-history-limit": "2",
  "json-rpc.batch-limit": "5",
  "json-rpc.batch-response-limit": "1KiB",
  "json-rpc.depth-limit": "8",
  "json-rpc.items-limit": "400",
  "json-rpc.id-limit": "64B",
  "json-rpc.method-name-limit": "64",
  "json-rpc.trace-timeout-limit": "20ms",
  "json-rpc.ots-page-size": "5",
};

let node: TestNode;
before(async () => {
  node = await startTestNode({ dev: true, settings: { ...SMALL, ...WITH_METRICS } });
});
after(() => node.stop());

const ask = async (body: string) => (await sendHttp(node.url, body)).json;
const addresses = (count: number) =>
  Array.from({ length: count }, (_, n) => `0x${n.toString(16).padStart(40, "0")}`);
const newFilter = request("eth_newFilter", [{ address: addresses(8) }]);
const newBlockFilter = request("eth_newBlockFilter");

/** By key: a request within the limit, one beyond it, the error code of that one and the labels of the error counter. */
const BREACHES: Readonly<
  Partial<
    Record<
      keyof typeof SMALL,
      readonly [good: string[], bad: string, code: number, errors?: string]
    >
  >
> = {
  "json-rpc.filter-terms-limit": [
    [request("eth_getLogs", [{ address: addresses(8) }])],
    request("eth_getLogs", [{ address: addresses(9) }]),
    -32000,
    'method="eth_getLogs",code="-32000"',
  ],
  "json-rpc.total-filter-terms-limit": [
    [newFilter],
    newFilter,
    -32005,
    'method="eth_newFilter",code="-32005"',
  ],
  "json-rpc.filters-limit": [
    // Besides the one above.
    [newBlockFilter, newBlockFilter, newBlockFilter],
    newBlockFilter,
    -32005,
    'method="eth_newBlockFilter",code="-32005"',
  ],
  "json-rpc.ots-page-size": [
    [request("ots_getBlockTransactions", [0, 0, 5])],
    request("ots_getBlockTransactions", [0, 0, 6]),
    -32602,
    'method="ots_getBlockTransactions",code="-32602"',
  ],
  "json-rpc.batch-limit": [[batchOf(5)], batchOf(6), -32600],
  "json-rpc.depth-limit": [
    [request("web3_sha3", ["0x"])],
    request("web3_sha3", [JSON.parse(`${"[".repeat(9)}${"]".repeat(9)}`)]),
    -32600,
  ],
  "json-rpc.items-limit": [
    [request("web3_sha3", ["0x"])],
    request("web3_sha3", Array(401).fill(0)),
    -32600,
  ],
  "json-rpc.id-limit": [[withId(60)], withId(65), -32600],
  "json-rpc.method-name-limit": [
    [newBlockFilter.replace("eth_newBlockFilter", "eth_chainId")],
    request("x".repeat(65)),
    -32600,
    'method="unknown",code="-32600"',
  ],
};

function batchOf(count: number): string {
  return `[${Array(count).fill(request("eth_chainId")).join(",")}]`;
}

function withId(length: number): string {
  return JSON.stringify({ jsonrpc: "2.0", id: "x".repeat(length), method: "eth_chainId" });
}

for (const [key, [good, bad, code, errors]] of Object.entries(BREACHES)) {
  test(`${key}: a request beyond it is rejected and counted, one within it is served`, async () => {
    const [, metric] = PROOFS[key]!;
    const count = () =>
      errors === undefined
        ? rejections(node, "http", (metric as { readonly rejected: string }).rejected)
        : metricOf(node, "rpc_errors_total", errors);
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

test("json-rpc.batch-response-limit: the calls after the one that passes it are not run, and this is counted", async () => {
  const block = request("eth_getBlockByNumber", ["latest", true]);
  const before = await rejections(node, "http", "batchResponse");
  const answers: { error?: { code: number } }[] = await ask(`[${Array(4).fill(block).join(",")}]`);
  assert.equal(answers.length, 4);
  assert.equal(answers[0]?.error, undefined);
  assert.equal(answers.at(-1)?.error?.code, -32003);
  assert.equal(await rejections(node, "http", "batchResponse"), before + 1);
});

test("json-rpc.trace-timeout-limit: a caller cannot ask for more time", async () => {
  const to = `0x${"aa".repeat(20)}`;
  const loop = { [to]: { code: "0x5b5f56" } };
  const tracing = { tracer: "callTracer", timeout: "1h", stateOverrides: loop };
  const { error } = await ask(request("debug_traceCall", [{ to }, "latest", tracing]));
  const labels = `method="debug_traceCall",code="${error?.code}"`;
  assert.equal(await metricOf(node, "rpc_errors_total", labels), 1);
  assert.match(error.message, /timeout/);
});

test("json-rpc.fee-history-limit: no more blocks than that are looked at", async () => {
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
