import assert from "node:assert/strict";
import { test } from "node:test";
import { testBlock, testMessage } from "../../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../../test/support/evm/state/memory-state.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import type { Log } from "../../../base/types/receipt.ts";
import { createWorldState } from "../../state/world-state.ts";
import { createEvm } from "../engine.ts";
import type { ExecuteOptions } from "../evm.ts";

const outer = `0x${"aa".repeat(20)}` as Address;
const inner = `0x${"bb".repeat(20)}` as Address;

/** LOG1 of so many bytes with the given topic */
const log = (size: string, topic: string) => `60${topic} 62${size} 5f a1`;
const callInner = (inputSize: string) => `5f 5f 60${inputSize} 5f 5f 73${"bb".repeat(20)} 5a f1 50`;

/** Emits nine logs of 1 MiB, more than fit with others' into the log region; reverts when it has input. */
const INNER = `60095b 8062100000 5f a1 600190038060025736 15 601a57 5f5ffd 5b 00`;

const GAS = 10n ** 10n;

function logsOf(code: string, options: ExecuteOptions = {}): readonly Log[] {
  const state = createWorldState(createMemoryState());
  const put = (text: string) => state.putCode(hexToBytes(`0x${text.replaceAll(" ", "")}`));
  state.setAccount(outer, { nonce: 1n, balance: 0n, codeHash: put(code) });
  state.setAccount(inner, { nonce: 1n, balance: 0n, codeHash: put(INNER) });
  const { outcome, logs } = evm.execute(
    testMessage({ to: outer, gas: GAS }),
    testBlock({ gasLimit: GAS }),
    state,
    options,
  );
  assert.equal(outcome, "success");
  return logs;
}

const evm = createEvm();
const summary = (logs: readonly Log[]) =>
  logs.map(({ address, topics, data }) => [address, Number(topics[0]), data.length]);
const innerLogs = [9, 8, 7, 6, 5, 4, 3, 2, 1].map((topic) => [inner, topic, 0x100000]);

test("logs that outgrow their region keep their order, and a revert undoes its own only", () => {
  const program = [
    log("000020", "61"),
    callInner("00"),
    log("000001", "62"),
    callInner("01"),
    log("000000", "63"),
    callInner("00"),
    callInner("01"),
    log("000021", "64"),
  ].join("");
  const expected = [
    [outer, 0x61, 32],
    ...innerLogs,
    [outer, 0x62, 1],
    [outer, 0x63, 0],
    ...innerLogs,
    [outer, 0x64, 33],
  ];
  const logs = logsOf(program);
  assert.deepEqual(summary(logs), expected);
  const reported: Log[] = [];
  const traced = logsOf(program, { tracer: { onLog: (each) => reported.push(each) } });
  assert.deepEqual(traced, logs);
  assert.equal(reported.length, logs.length + 18);
});

test("a log larger than the region is one like others", () => {
  const program = `${log("000020", "61")} 6062 63011fffff 5f a1 ${log("000020", "63")}`;
  assert.deepEqual(summary(logsOf(program)), [
    [outer, 0x61, 32],
    [outer, 0x62, 0x11fffff],
    [outer, 0x63, 32],
  ]);
});

test("an execution without logs gives none, and a tracer sees them all the same", () => {
  const program = `${log("000020", "61")} ${log("000001", "62")}`;
  const withoutLogs = true;
  assert.deepEqual(logsOf(program, { withoutLogs }), []);
  const reported: Log[] = [];
  assert.deepEqual(logsOf(program, { withoutLogs, tracer: { onLog: (each) => reported.push(each) } }), []);
  assert.deepEqual(reported, logsOf(program));
});

test("logs are those of their execution also after the next one", () => {
  const first = logsOf(`5f 51 50 7f${"ab".repeat(32)} 5f 52 ${log("000020", "01")}`);
  logsOf(log("000020", "02"));
  assert.deepEqual(summary(first), [[outer, 1, 32]]);
  assert.deepEqual(first[0]!.data, hexToBytes(`0x${"ab".repeat(32)}`));
});
