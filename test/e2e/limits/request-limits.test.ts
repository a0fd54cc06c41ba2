import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openWs, request } from "../../support/clients.ts";
import fc from "../../support/fast-check.ts";
import { transfer } from "../../support/made-chain.ts";
import { metricOf, WITH_METRICS } from "../../support/metrics.ts";
import { sendHttp } from "../../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";

const DEV_CHAIN_ID = 31337n;

let node: TestNode;
before(async () => {
  node = await startTestNode({ dev: true, settings: WITH_METRICS });
});
after(() => node.stop());

const ask = (body: string | Buffer) => sendHttp(node.url, body);

const codeOf = async (body: string) => (await ask(body)).json?.error?.code;

test("names that are none, or mean something in JavaScript, are unknown methods under one label", async () => {
  const names = [
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "eth___proto__",
    "eth_constructor",
    "__proto___eth",
    "eth_\u0000chainId",
    "eth_chainId\n",
    "eth_\u001b[31mred",
    "_",
    "eth_",
    "ETH_CHAINID",
  ];
  for (const name of names) {
    assert.equal(await codeOf(request(name)), -32601, JSON.stringify(name));
  }
  for (const length of [2049, 1_000_000]) {
    const { json, text } = await ask(request("x".repeat(length)));
    assert.equal(json.error.code, -32600);
    assert.ok(text.length < 1000, "the name is not sent back");
  }
  const labels = 'method="unknown",code="-32601"';
  assert.equal(await metricOf(node, "rpc_errors_total", labels), names.length);
});

test("members that mean something in JavaScript are members like any other", async () => {
  for (const body of [
    '{"__proto__":{"method":"eth_chainId","jsonrpc":"2.0","id":1}}',
    '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":{"__proto__":[]}}',
    '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"__proto__":{"to":"0x"},"constructor":1}]}',
    '{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"__proto__":null}]}',
    '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{},"latest",{"__proto__":{"code":"0x"}}]}',
  ]) {
    const { status, json } = await ask(body);
    assert.equal(status, 200, body);
    assert.notEqual(json.error?.code, -32603, body);
  }
  assert.equal(({} as { to?: string }).to, undefined);
});

test("ids come back as they were written, up to a kilobyte", async () => {
  for (const id of ["9007199254740993", "1e400", "-0", "1.0", '""', '"\\u0000"', "true", "null"]) {
    const { text } = await ask(`{"jsonrpc":"2.0","id":${id},"method":"eth_chainId"}`);
    assert.equal(text, `{"jsonrpc":"2.0","id":${id},"result":"0x7a69"}`);
  }
  for (const id of ["{}", "[]", `"${"x".repeat(1024)}"`, `"${"x".repeat(1_000_000)}"`]) {
    const { json } = await ask(`{"jsonrpc":"2.0","id":${id},"method":"eth_chainId"}`);
    assert.deepEqual([json.id, json.error.code], [null, -32600]);
  }
});

test("of a member given twice the last counts, wherever it stands", async () => {
  const twice = '{"jsonrpc":"2.0","id":1,"id":2,"method":"eth_coinbase","method":"eth_chainId"}';
  assert.equal((await ask(twice)).text, '{"jsonrpc":"2.0","id":2,"result":"0x7a69"}');
});

test("a request that would fill the memory is refused while it is still text", async () => {
  const call = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":${params}}`;
  const cases: readonly (readonly [string, string, number])[] = [
    ["65 levels", call(`${"[".repeat(64)}${"]".repeat(64)}`), -32600],
    ["100,000 levels", call("[".repeat(100_000)), -32600],
    ["5,000,000 levels", "[".repeat(5_000_000), -32600],
    ["a million commas", call(`[${",".repeat(1_000_000)}]`), -32600],
    ["two million objects", `[${"{},".repeat(1_600_000)}{}]`, -32600],
    ["five megabytes of blanks", " ".repeat(5_000_000), 0],
    ["a string that does not end", `"${"\\".repeat(4_999_999)}`, -32700],
  ];
  for (const [name, body, code] of cases) {
    const { json } = await ask(body);
    assert.equal(json?.error?.code ?? 0, code, name);
  }
});

test("a batch beyond its limit runs nothing, one whose answer grows too large stops", async () => {
  const batch = (count: number, call: string) => `[${Array(count).fill(call).join(",")}]`;
  const many = await ask(batch(1001, request("eth_chainId")));
  assert.deepEqual([many.json.length, many.json[0].error.code], [1, -32600]);
  assert.equal((await ask(batch(1000, request("eth_chainId")))).json.length, 1000);
  const target = `0x${"aa".repeat(20)}`;
  const large = request("eth_call", [{ to: target }, "latest", { [target]: { code: "0x620fffff5ff3" } }]);
  const { json, text } = await ask(batch(50, large));
  assert.equal(json.length, 50);
  assert.equal(json.at(-1).error.code, -32003);
  assert.ok(text.length < 30_000_000);
});

/** Every answer is an error object or a result, and nothing is a bug of ours. */
function assertAnswered(name: string, json: unknown): void {
  for (const answer of Array.isArray(json) ? json : [json]) {
    if (answer === undefined) continue;
    const { error } = answer as { error?: { code: number; message: string } };
    assert.notEqual(error?.code, -32603, `${name}: ${JSON.stringify(answer)}`);
  }
}

test("requests with bytes changed anywhere are answered, over HTTP and WebSocket alike", {}, async () => {
  const target = `0x${"aa".repeat(20)}`;
  const seeds = [
    request("eth_getBlockByNumber", ["latest", true]),
    request("eth_call", [{ to: target, data: "0x12345678", gas: "0xffff" }, "latest"]),
    request("eth_getLogs", [{ fromBlock: "0x0", topics: [null, [`0x${"11".repeat(32)}`]] }]),
    request("eth_feeHistory", ["0x5", "latest", [10, 50.5]]),
    request("eth_getProof", [target, ["0x0"], "latest"]),
    request("eth_simulateV1", [{ blockStateCalls: [{ calls: [{ to: target }] }] }, "latest"]),
    request("debug_traceCall", [{ to: target }, "latest", { tracer: "callTracer" }]),
    request("eth_sendRawTransaction", [transfer(7n, DEV_CHAIN_ID)]),
    request("eth_getStorageAt", [target, "0x0", { blockNumber: "0x0" }]),
    request("eth_signTypedData_v4", [target, { types: { EIP712Domain: [] }, domain: {} }]),
    `[${request("eth_chainId")},${request("net_version")}]`,
  ].map((text) => Buffer.from(text));
  const mutated = fc
    .tuple(
      fc.constantFrom(...seeds),
      fc.array(
        fc.record({
          at: fc.nat(400),
          remove: fc.nat(4),
          insert: fc.oneof(
            fc.constantFrom("null", "{}", "[]", '"0x"', "-1", "1e999", '""', "true", "0x", ","),
            fc.string({ maxLength: 5 }),
          ),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    )
    .map(([seed, changes]) => {
      let bytes = seed;
      for (const { at, remove, insert } of changes) {
        const place = at % (bytes.length + 1);
        bytes = Buffer.concat([bytes.subarray(0, place), Buffer.from(insert), bytes.subarray(place + remove)]);
      }
      return bytes;
    });
  await fc.assert(
    fc.asyncProperty(mutated, async (body) => {
      const { status, json } = await ask(body);
      assert.equal(status, 200);
      assertAnswered(body.toString(), json);
    }),
    { numRuns: 1500 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(mutated, { minLength: 5, maxLength: 5 }), async (bodies) => {
      const ws = await openWs(node.wsUrl);
      const answers: string[] = [];
      ws.on("message", (text) => answers.push(text.toString()));
      for (const body of bodies) ws.send(body.toString());
      ws.send(request("eth_chainId"));
      await new Promise<void>((resolve) => {
        ws.once("close", () => resolve());
        ws.on("message", (text) => text.toString().includes('"0x7a69"') && resolve());
      });
      for (const text of answers) assertAnswered(text, JSON.parse(text));
      ws.terminate();
    }),
    { numRuns: 60 },
  );
});

test("raw transactions with bytes changed anywhere are refused as malformed or invalid, never as a bug", async () => {
  const raw = Buffer.from(transfer(9n, DEV_CHAIN_ID).slice(2), "hex");
  const changed = fc
    .tuple(fc.nat(raw.length - 1), fc.nat(255), fc.nat(3), fc.uint8Array({ maxLength: 4 }))
    .map(([at, byte, cut, insert]) => {
      const bytes = Buffer.concat([raw.subarray(0, at), insert, raw.subarray(at + cut)]);
      if (at < bytes.length) bytes[at] = byte;
      return bytes;
    });
  const anything = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, anything), async (bytes) => {
      const { json } = await ask(request("eth_sendRawTransaction", [`0x${bytes.toString("hex")}`]));
      assertAnswered(bytes.toString("hex"), json);
    }),
    { numRuns: 1500 },
  );
});
