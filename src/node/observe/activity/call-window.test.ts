import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Address } from "../../../base/primitives/address.ts";
import { MethodNotFoundError } from "../../../rpc/transport/errors.ts";
import { UnknownAccountError } from "../../keystore/errors.ts";
import { CALL_WINDOW_LIMITS, CallWindow } from "./call-window.ts";

const TOKEN = `0x${"70".repeat(20)}`;
const balanceOf = (digit: string) => [{ to: TOKEN, data: `0x70a08231${digit.repeat(64)}` }, "latest"];

describe("CallWindow", () => {
  test("calls of one function of one contract are equal, of another are not", () => {
    const window = new CallWindow();
    assert.notEqual(window.add("eth_call", balanceOf("1"), 1, '"0x01"', undefined), undefined);
    assert.equal(window.add("eth_call", balanceOf("2"), 2, '"0x02"', undefined), undefined);
    window.add("eth_call", [{ to: TOKEN, input: "0x18160ddd" }], 1, '"0x03"', undefined);
    window.add("eth_estimateGas", balanceOf("1"), 1, '"0x5208"', undefined);
    const { records, more } = window.take();
    assert.deepEqual(
      records.map(({ method, target, count, totalMs, result }) => [
        method,
        target?.data.length,
        count,
        totalMs,
        result,
      ]),
      [
        ["eth_call", 74, 2, 3, undefined],
        ["eth_call", 10, 1, 1, "0x03"],
        ["eth_estimateGas", 74, 1, 1, "0x5208"],
      ],
    );
    assert.equal(more, 0);
    assert.ok(window.isEmpty);
  });

  test("transactions that are sent have a record each, some of them", () => {
    const window = new CallWindow();
    for (let i = 0; i < 100; i++) window.add("eth_sendRawTransaction", ["0x"], 1, `"0x${i}"`, undefined);
    const counts = window.take().records.map(({ count }) => count);
    assert.deepEqual(counts, [...Array.from({ length: CALL_WINDOW_LIMITS.sendsMax }, () => 1), 92]);
  });

  test("results that may be secret, or are objects, are not remembered", () => {
    const window = new CallWindow();
    window.add("personal_newAccount", ["passphrase"], 1, '"0x01"', undefined);
    window.add("eth_getBlockByNumber", ["0x1"], 1, '{"number":"0x1"}', undefined);
    window.add("eth_accounts", [], 1, '["0x1"]', undefined);
    const { records } = window.take();
    assert.deepEqual(
      records.map(({ result }) => result),
      [undefined, undefined, undefined],
    );
    assert.ok(!JSON.stringify(records).includes("passphrase"));
  });

  test("a failure is remembered with its facts, and no more of it than is shown", () => {
    const window = new CallWindow();
    window.headNumber = () => 7;
    const address = TOKEN as Address;
    window.add("eth_sendTransaction", [{ from: TOKEN }], 1, undefined, new UnknownAccountError(address));
    window.add("eth_getBalance", [TOKEN, "0xfffff"], 1, undefined, new MethodNotFoundError("x".repeat(1 << 20)));
    window.add("eth_chainId", [], 1, undefined, new TypeError("of the node, and nobody else's"));
    const [unknown, long, bug] = window.take().records;
    assert.deepEqual(unknown?.failed, { code: "ACCOUNT_UNKNOWN", message: "unknown account", facts: { address } });
    assert.deepEqual([long?.block, long?.head], ["0xfffff", 7]);
    assert.ok(JSON.stringify(long).length < 1_000);
    assert.deepEqual(bug?.failed, { code: "", message: "method handler crashed", facts: {} });
  });

  test("its size is bounded, and further calls are counted", () => {
    const window = new CallWindow();
    for (let i = 0; i < 10_000; i++) window.add(`eth_${i}${"x".repeat(1 << 10)}`, [], 1, '"0x1"', undefined);
    const { records, more } = window.take();
    assert.equal(records.length, CALL_WINDOW_LIMITS.entriesMax);
    assert.equal(records.length + more, 10_000);
    assert.ok(JSON.stringify(records).length < 64 * 400);
  });

  test("what other processes counted is added", () => {
    const [here, there] = [new CallWindow(), new CallWindow()];
    for (const window of [here, there]) {
      window.add("eth_chainId", [], 1, '"0x1"', undefined);
      window.add("eth_x", [], 1, undefined, new MethodNotFoundError("eth_x"));
    }
    there.add("net_version", [], 1, '"1"', undefined);
    const { records } = there.take();
    assert.deepEqual(here.merge(structuredClone(records), 5), ["net_version"]);
    const merged = here.take();
    assert.deepEqual(
      merged.records.map(({ method, count }) => [method, count]),
      [
        ["eth_chainId", 2],
        ["eth_x", 2],
        ["net_version", 1],
      ],
    );
    assert.equal(merged.more, 5);
  });
});
