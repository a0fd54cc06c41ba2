import assert from "node:assert/strict";
import { test } from "node:test";
import { createMethodRegistry } from "../methods.ts";
import { assertRemoteResult, assertSameTransaction } from "./remote-result.ts";

const HASH = `0x${"12".repeat(32)}`;
const RECEIPT = {
  blockHash: HASH,
  blockNumber: "0x1",
  transactionHash: HASH,
  transactionIndex: "0x0",
  from: `0x${"34".repeat(20)}`,
  to: null,
  gasUsed: "0x5208",
  status: "0x1",
  logs: [],
};
const methods = createMethodRegistry({ dev: false });
const check = (method: string, result: unknown) =>
  assertRemoteResult(method, methods.get(method)!.resultSchema, result);
const code = "FORK_REMOTE_FAILED";

test("results of other clients pass: members of their own, null and missing ones, padded numbers", () => {
  check("eth_getTransactionReceipt", RECEIPT);
  check("eth_getTransactionReceipt", null);
  check("eth_getTransactionReceipt", { ...RECEIPT, l1Fee: "0x1", contractAddress: null });
  check("eth_getTransactionReceipt", { ...RECEIPT, gasUsed: "0x005208" });
  check("eth_getBlockByNumber", { number: "0x1", transactions: [HASH], totalDifficulty: "0x2" });
  check("eth_getBlockByNumber", { number: "0x1", transactions: [{ hash: HASH, type: "0x7e" }] });
});

test("values of another form are an error, however deep they are", () => {
  for (const other of [5, "0x1", [], true]) {
    assert.throws(() => check("eth_getTransactionReceipt", other), { code });
  }
  for (const [member, value] of [
    ["blockNumber", 1],
    ["blockNumber", "1"],
    ["blockNumber", {}],
    ["from", "0x12"],
    ["logs", {}],
    ["logs", [5]],
    ["logs", [{ topics: ["0x1"] }]],
    ["logs", [{ topics: "0x1" }]],
  ] as const) {
    const result = { ...RECEIPT, [member]: value };
    assert.throws(() => check("eth_getTransactionReceipt", result), { code }, member);
  }
  // A list is what the logs of this chain are appended to.
  for (const logs of [null, {}, "0x"]) assert.throws(() => check("eth_getLogs", logs), { code });
});

test("an answer about another transaction is an error", () => {
  const other = `0x${"56".repeat(32)}`;
  assertSameTransaction([HASH.toUpperCase().replace("0X", "0x")], { hash: HASH });
  assertSameTransaction([HASH], null);
  assert.throws(() => assertSameTransaction([other], { hash: HASH }), { code });
  assert.throws(() => assertSameTransaction([other], { transactionHash: HASH }), { code });
});
