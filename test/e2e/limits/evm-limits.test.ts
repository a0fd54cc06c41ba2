import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { request } from "../../support/clients.ts";
import { callHttp, sendHttp } from "../../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";
import { until } from "../../support/until.ts";

const TARGET = `0x${"aa".repeat(20)}`;
const TIMEOUT_MS = 300;

/**
 * One whose calls nothing but gas ends, on a loaded machine too; one whose owner set no gas cap, so that nothing but time and memory ends a call; and
 * one without a gas cap whose calls have all the time that they take.
 */
let node: TestNode;
let uncapped: TestNode;
let unlimited: TestNode;
before(async () => {
  node = await startTestNode({ dev: true });
  unlimited = await startTestNode({ dev: true, settings: { "json-rpc.gas-cap": "0" } });
  uncapped = await startTestNode({
    dev: true,
    settings: {
      "json-rpc.gas-cap": "0",
      "json-rpc.evm-timeout": `${TIMEOUT_MS}ms`,
    },
    limits: { calls: { memoryBytesMax: 32 << 20 } },
  });
  await Promise.all([startThreads(node), startThreads(uncapped)]);
});
after(() => Promise.all([node.stop(), uncapped.stop(), unlimited.stop()]));

/** Calls longer than some milliseconds run on a thread that starts with the first of them, one in each process that serves connections. */
async function startThreads(started: TestNode): Promise<void> {
  const connections = Math.max(1, started.node.processes?.pids.length ?? 0);
  const calls = Array.from({ length: connections }, () => run(started, { code: "0x5b600056" }));
  await Promise.all(calls);
}

type Call = {
  readonly code: string;
  readonly input?: string;
  readonly gas?: string;
  readonly overrides?: Readonly<Record<string, unknown>>;
};

/** Runs `code` with all the gas that can be written. */
async function run({ url }: TestNode, { code, input = "0x", gas, overrides }: Call) {
  return callHttp(url, "eth_call", [
    { to: TARGET, gas: gas ?? "0x7fffffffffffffff", input },
    "latest",
    { [TARGET]: { code }, ...overrides },
  ]);
}

/** `ADDRESS` called with the calldata, and again, until something ends it. */
const againAndAgain = (address: string) => `0x365f5f375b5f5f365f61${address}5afa50600456`;
/** The same once; returns whether it succeeded. */
const once = (address: string) => `0x365f5f375f5f365f61${address}5afa5f5260205ff3`;
const word = (value: number | string) => value.toString(16).padStart(64, "0");

test("an endless loop ends at the gas cap, without one at the time limit, with geth's text; others are served then", async () => {
  const capped = await run(node, { code: "0x5b600056" });
  assert.deepEqual(capped.error, { code: -32000, message: "out of gas" });

  const timed = await run(uncapped, { code: "0x5b600056" });
  assert.deepEqual(timed.error, {
    code: -32000,
    message: `execution aborted (timeout = ${TIMEOUT_MS}ms)`,
  });
  assert.equal((await callHttp(uncapped.url, "eth_chainId")).result, "0x7a69");
  const next = async () => (await run(uncapped, { code: "0x602a5f5260205ff3" })).result;
  assert.equal(await until(next, "a call that ends in time"), `0x${word(42)}`);
});

test("memory beyond what gas pays for is never taken", async () => {
  const before = process.memoryUsage.rss();
  for (const offset of ["640100000000", "63ffffffff", "637fffffff", `7f${"ff".repeat(32)}`]) {
    for (const code of [
      `0x6001${offset}52`,
      `0x${offset}5ff3`,
      `0x${offset}5ffd`,
      `0x${offset}5f20`,
      `0x5f5f${offset}5f5f5f5af1`,
      `0x${offset}5f5f37`,
      `0x${offset}5f5ff0`,
      `0x${offset}5fa0`,
    ]) {
      const { error } = await run(node, { code });
      assert.equal(error?.code ?? error, -32000, `${code}: ${JSON.stringify(error)}`);
    }
  }
  // What nobody pays for here, the memory limit refuses.
  const { error } = await run(uncapped, { code: "0x6001637fffffff52" });
  assert.equal(error.code, -32000);
  const grown = (process.memoryUsage.rss() - before) / 2 ** 20;
  assert.ok(grown < 400, `memory grew by ${grown.toFixed(0)} MiB`);
});

const G1 = word(1) + word(2);
const G2 = [
  "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2",
  "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed",
  "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b",
  "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa",
].join("");
/** Base and exponent of all ones, and an odd modulus. */
const modexp = (base: number, exponent: number) =>
  `0x${word(base)}${word(exponent)}${word(base)}${"ff".repeat(base + exponent + base)}`;
const blake2f = (rounds: number) => `0x${rounds.toString(16).padStart(8, "0")}${"00".repeat(208)}01`;

test("the worst precompiles end by gas or at the time limit", async () => {
  const loops: readonly (readonly [string, string, string])[] = [
    ["modexp of 1 KB", "0005", modexp(1024, 1024)],
    ["modexp of 32 bytes", "0005", modexp(32, 32)],
    ["modexp of 256 bytes", "0005", modexp(256, 3)],
    ["blake2f of no rounds", "0009", blake2f(0)],
    ["blake2f of a million rounds", "0009", blake2f(1_000_000)],
    ["pairing of two", "0008", `0x${(G1 + G2).repeat(2)}`],
    ["bn254 multiplication", "0007", `0x${G1}${"ff".repeat(32)}`],
    ["ecrecover", "0001", `0x${word(1)}${word(27)}${word(1)}${word(1)}`],
    ["identity of 128 KB", "0004", `0x${"ab".repeat(131_072)}`],
    ["sha256 of 128 KB", "0002", `0x${"ab".repeat(131_072)}`],
  ];
  for (const [name, address, input] of loops) {
    const { error } = await run(uncapped, { code: againAndAgain(address), input });
    assert.match(error?.message ?? "no error", /execution aborted|out of gas/, name);
  }

  // One step each: nothing but its price ends it.
  const steps: readonly (readonly [string, string, string, boolean])[] = [
    ["blake2f of 2^32 rounds", "0009", blake2f(2 ** 32 - 1), false],
    ["blake2f of 45 million rounds", "0009", blake2f(45_000_000), true],
    ["pairing of 1000", "0008", `0x${(G1 + G2).repeat(1000)}`, true],
    ["pairing of 5000", "0008", `0x${(G1 + G2).repeat(5000)}`, false],
    ["modexp of 1 KB", "0005", modexp(1024, 1024), false],
  ];
  for (const [name, address, input, isPaid] of steps) {
    const { result } = await run(node, { code: once(address), input });
    assert.equal(result, `0x${word(isPaid ? 1 : 0)}`, name);
  }
});

test("calls nest 1024 deep with growing return data, and no deeper", async () => {
  // Calls itself with all gas; returns what it got and one word more.
  const deep = "0x5f5f5f5f5f305af1503d5f5f3e60203d015ff3";
  const gas = "0x7fffffffffffffff";
  const { result, error } = await run(unlimited, { code: deep, gas });
  assert.equal(error, undefined);
  assert.equal((result.length - 2) / 64, 1025);
});

test("a megabyte of overrides is one call's affair", async () => {
  const overrides = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [
      `0x${(0x1000 + i).toString(16).padStart(40, "0")}`,
      { code: `0x${"5b".repeat(20_000)}`, balance: "0x1" },
    ]),
  );
  const { result } = await run(node, { code: "0x00", overrides });
  assert.equal(result, "0x");
  const much = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [
      `0x${(0x1000 + i).toString(16).padStart(40, "0")}`,
      { code: `0x${"5b".repeat(1_000_000)}` },
    ]),
  );
  const refused = await sendHttp(node.url, request("eth_call", [{ to: TARGET }, "latest", much])).catch(
    (error: Error) => error,
  );
  // The client may still be sending its 200 MB when it is told.
  if (!(refused instanceof Error)) assert.equal(refused.status, 413);
  assert.equal((await callHttp(node.url, "eth_chainId")).result, "0x7a69");
});

test("what a call returns, and an estimate's search, have limits too", async () => {
  const large = await run(node, { code: "0x621fffff5ff3" });
  assert.equal(large.error.code, -32000);
  const estimate = await callHttp(uncapped.url, "eth_estimateGas", [
    { to: TARGET },
    "latest",
    { [TARGET]: { code: "0x5b600056" } },
  ]);
  assert.equal(estimate.error.code, -32000);
  const list = await callHttp(uncapped.url, "eth_createAccessList", [
    { to: TARGET },
    "latest",
    { [TARGET]: { code: "0x5b600056" } },
  ]);
  assert.ok(list.error ?? list.result.error);
});
