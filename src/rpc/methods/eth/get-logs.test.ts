import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, CONTRACT, createTestModules, TOPIC } from "../../../../test/support/rpc/test-chain.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { receiptsText } from "../json/receipt-json.ts";
import type { RpcSettings } from "../rpc-ports.ts";
import { getLogs } from "./filters.ts";

const modules = createTestModules();
const OTHER = `0x${"11".repeat(32)}`;
const [genesis, first] = modules.blocks;

/** Every log of block 1, by way of its receipts. */
const everyLog = (JSON.parse(receiptsText(first!)) as { logs: unknown[] }[]).flatMap(({ logs }) => logs);

const call = (criteria: unknown, limits: Partial<RpcSettings["logLimits"]> = {}) =>
  getLogs.call(createTestModules({ settings: { logLimits: { ...modules.settings.logLimits, ...limits } } }), [
    criteria,
  ]);
const rejection = async (criteria: unknown): Promise<string> =>
  (await call(criteria).then(() => assert.fail("must be refused"), String)).replace(/^\w+: /, "");

test("eth_getLogs gives the logs as receipts show them, in order, by range and by block hash", async () => {
  assert.equal(everyLog.length, 10);
  const range = { fromBlock: "0x0", toBlock: "latest" };
  assert.deepEqual(await call(range), everyLog);
  assert.deepEqual(await call({ blockHash: first!.block.hash }), everyLog);
  assert.deepEqual(await call({ blockhash: first!.block.hash }), everyLog);
  assert.deepEqual(await call({ blockHash: genesis!.block.hash }), []);
  assert.deepEqual(await call({}), []);
  assert.deepEqual(await call({ fromBlock: "earliest", toBlock: "finalized" }), everyLog);
});

test("eth_getLogs selects by address and by topics at their positions", async () => {
  const count = async (criteria: object) => ((await call({ fromBlock: "0x0", ...criteria })) as unknown[]).length;
  assert.equal(await count({ address: CONTRACT }), 10);
  assert.equal(await count({ address: [ALICE, CONTRACT.toUpperCase().replace("0X", "0x")] }), 10);
  assert.equal(await count({ address: ALICE }), 0);
  assert.equal(await count({ address: [] }), 10);
  assert.equal(await count({ topics: [TOPIC] }), 5);
  assert.equal(await count({ topics: [[OTHER, TOPIC]] }), 5);
  assert.equal(await count({ topics: [[OTHER]] }), 0);
  // A position that lets everything through still asks for a topic there.
  for (const wildcard of [null, [], [null], [OTHER, null]]) {
    assert.equal(await count({ topics: [wildcard] }), 5);
    assert.equal(await count({ topics: [TOPIC, wildcard] }), 0);
  }
  assert.equal(await count({ topics: [] }), 10);
  assert.equal(await count({ address: CONTRACT, topics: [[TOPIC]] }), 5);
});

test("eth_getLogs refuses ranges that are not all there, with geth's words", async () => {
  const cases: readonly (readonly [object, string])[] = [
    [{ fromBlock: "0x2", toBlock: "0x1" }, "invalid block range params"],
    [{ toBlock: "0x1" }, "invalid block range params"],
    [{ fromBlock: "0x3" }, "invalid block range params"],
    [{ fromBlock: "0x3", toBlock: "0x4" }, "block range extends beyond current head block"],
    [{ fromBlock: "0x0", toBlock: "0x3" }, "block range extends beyond current head block"],
    [{ fromBlock: "pending" }, "pending logs are not supported"],
    [{ fromBlock: "0x0", toBlock: "pending" }, "pending logs are not supported"],
  ];
  for (const [criteria, text] of cases) {
    assert.equal(await rejection(criteria), text);
    await assert.rejects(call(criteria), { code: "RPC_INVALID_PARAMS" });
  }
  await assert.rejects(call({ blockHash: OTHER }), {
    code: "RPC_UNKNOWN_BLOCK",
    message: "unknown block",
  });
});

test("eth_getLogs names what it cannot read", async () => {
  const address = `0x${"aa".repeat(20)}`;
  const cases: readonly (readonly [unknown, string])[] = [
    [
      { blockHash: OTHER, fromBlock: "0x0" },
      "cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other",
    ],
    [{ address: "0xaa" }, "invalid address: hex has invalid length 1 after decoding; expected 20 for address"],
    [{ address: "aa" }, "invalid address: hex string without 0x prefix"],
    [{ address: [address, "0xa"] }, "invalid address at index 1: hex string of odd length"],
    [{ address: [address, 1] }, "non-string address at index 1"],
    [{ address: 1 }, "invalid addresses in query"],
    [{ topics: [null, null, null, null, null] }, "exceed max topics"],
    [{ topics: [Array(1001).fill(OTHER)] }, "exceed max topics"],
    [{ topics: [1] }, "invalid topic(s)"],
    [{ topics: [[1]] }, "invalid topic(s)"],
    [{ topics: ["0x1122"] }, "hex has invalid length 2 after decoding; expected 32 for topic"],
    [{ topics: [["0xzz"]] }, "invalid hex string"],
    [{ topics: [["0xzza"]] }, "invalid hex string"],
    [{ topics: ["0xabc"] }, "hex string of odd length"],
    [{ address: "0x1 2" }, "invalid address: invalid hex string"],
    [{ topics: OTHER }, "json: cannot unmarshal string into Go struct field input.topics of type []interface {}"],
    [{ fromBlock: "1" }, "hex string without 0x prefix"],
    ["0x0", "json: cannot unmarshal string into Go value of type filters.input"],
  ];
  for (const [criteria, text] of cases) {
    assert.equal(await rejection(criteria), `invalid argument 0: ${text}`);
  }
  await assert.rejects(getLogs.call(modules, []), { code: "RPC_INVALID_PARAMS" });
});

test("eth_getLogs bounds the terms of a filter", async () => {
  const topics = Array.from({ length: 3 }, (_, i) => `0x${String(i).padStart(64, "0")}` as Hash);
  assert.deepEqual(await call({ fromBlock: "0x0", topics: [topics] }, { termsMax: 3 }), []);
  await assert.rejects(call({ topics: [topics] }, { termsMax: 2 }), {
    code: "RPC_LOG_FILTER_TERMS",
  });
  const address = [ALICE, CONTRACT, ALICE];
  await assert.rejects(call({ address }, { termsMax: 2 }), { code: "RPC_LOG_FILTER_TERMS" });
  assert.deepEqual(await call({ address, fromBlock: "0x2" }, { termsMax: 0 }), []);
});

test("eth_getLogs that is too large names a range that is not", async () => {
  for (const limits of [{ resultsMax: 9 }, { bytesMax: 100 }]) {
    const refused = { code: "RPC_LOG_LIMIT", details: { data: { from: "0x0", to: "0x0" } } };
    await assert.rejects(call({ fromBlock: "0x0" }, limits), refused);
    assert.deepEqual(await call({ fromBlock: "0x0", toBlock: "0x0" }, limits), []);
    // The first block is given whole, however much is in it, and the rest of its range is not.
    assert.deepEqual(await call({ fromBlock: "0x1", toBlock: "0x1" }, limits), everyLog);
    assert.deepEqual(await call({ blockHash: first!.block.hash }, limits), everyLog);
    await assert.rejects(call({ fromBlock: "0x1" }, limits), {
      code: "RPC_LOG_LIMIT",
      details: { data: { from: "0x1", to: "0x1" } },
    });
  }
});
