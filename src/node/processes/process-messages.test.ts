import assert from "node:assert/strict";
import { test } from "node:test";
import { InvariantError } from "../../base/errors.ts";
import type { ChannelMessage } from "../../base/threads/channel.ts";
import { errorDataOf } from "../../base/threads/plain-data.ts";
import { ProcessMessageError, ProcessMessages } from "./process-messages.ts";

const BODY_BYTES_MAX = 10_000;
const NAMES = [
  "ready",
  "run",
  "admit",
  "charge",
  "gone",
  "took",
  "ended",
  "badToken",
  "calls",
  "log",
  "chain.subscribe",
  "chain.unsubscribe",
  "chain.submit",
  "chain.nextNonce",
  "node.info",
];
const SENDER = `0x${"ab".repeat(20)}`;

function decode(...messages: readonly unknown[]): readonly ChannelMessage[] {
  return [...new ProcessMessages(NAMES, BODY_BYTES_MAX).decode(structuredClone(messages))];
}

const event = (name: string, input?: unknown) => ({ kind: "event", name, input });
const call = (name: string, input?: unknown, id: unknown = 1) => ({ kind: "call", id, name, input });
const nested = (levels: number): unknown => (levels === 0 ? [] : [nested(levels - 1)]);

const RUN = { method: "eth_newFilter", params: [{ address: SENDER }], transport: "ws", connection: 1 };
const CALLER = { remoteAddress: "::1", apiKey: undefined, certified: undefined, subject: "me" };
const RECORD = {
  method: "eth_call",
  target: { to: SENDER, data: "0x" },
  failed: { code: "EXECUTION_REVERTED", message: "no", facts: { gas: "1" } },
  result: undefined,
  block: "latest",
  head: 3,
  count: 2,
  totalMs: 1.5,
  notes: ["a line"],
};
const LOG = { level: "warn", message: "slow", data: { ms: 3, of: 2n, none: undefined }, error: undefined };

const RIGHT: readonly unknown[] = [
  event("ready"),
  call("run", RUN),
  call("run", { ...RUN, params: undefined, transport: "http", connection: undefined }),
  call("admit", { caller: CALLER, connection: undefined }),
  event("charge", { id: 1, cost: 0.5 }),
  event("gone", { connection: 7 }),
  event("took", { id: 0 }),
  event("ended", { listener: "http" }),
  event("badToken", { source: "10.0.0.1" }),
  event("calls", { records: [RECORD], more: 0 }),
  event("log", LOG),
  event("log", { ...LOG, error: errorDataOf(new Error("broken", { cause: new InvariantError("why") })) }),
  event("chain.subscribe", { id: 1, names: ["onPending"] }),
  event("chain.unsubscribe", { id: 1 }),
  call("chain.submit", { transaction: new Uint8Array(200) }),
  call("chain.submit", { transaction: new Uint8Array(0) }),
  call("chain.nextNonce", { address: SENDER }),
  call("node.info"),
  { kind: "result", id: 1, value: undefined },
  { kind: "result", id: 1, value: "# metrics" },
  { kind: "error", id: 1, error: errorDataOf(new Error("no")) },
];

const WRONG: Readonly<Record<string, unknown>> = {
  "no object": 7,
  nothing: null,
  "no kind": { id: 1 },
  "another kind": { kind: "order", id: 1 },
  "an event that nobody takes": event("shutdown"),
  "an event by a name of every object": event("constructor"),
  "a call that nobody answers": call("chain.rollback", {}),
  "an event as a call": call("ready"),
  "a call as an event": event("run", RUN),
  "a call without a number": { kind: "call", name: "node.info", input: undefined },
  "a call with a fraction": call("node.info", undefined, 1.5),
  "a call with a text for a number": call("node.info", undefined, "1"),
  "the end of a call that was not made": { kind: "abort", id: 9 },
  "a result of no call": { kind: "result", id: -1, value: "" },
  "a result that is an object": { kind: "result", id: 1, value: {} },
  "an error that is a text": { kind: "error", id: 1, error: "no" },
  "an error of an unknown code": {
    kind: "error",
    id: 1,
    error: { ...errorDataOf(new Error("no")), rejection: { code: "NONE", details: {} } },
  },
  "an input where there is none": event("ready", {}),
  "a list for an object": call("chain.nextNonce", [SENDER]),
  "a text for an object": call("chain.nextNonce", SENDER),
  "a deep input": call("chain.nextNonce", { address: nested(200) }),
  "a large input": call("chain.nextNonce", { address: "x".repeat(2_000_000) }),
  "many small values": call("chain.nextNonce", { address: Array(300_000).fill(0) }),
  "a map with much in it": call("chain.nextNonce", { address: new Map([["x", "y".repeat(2_000_000)]]) }),
  "an instance of a class": call("chain.nextNonce", { address: new Date(0) }),
  "a method without a name": call("run", { ...RUN, method: undefined }),
  "a long name": call("run", { ...RUN, method: "x".repeat(3_000) }),
  "params by name": call("run", { ...RUN, params: {} }),
  "deep params": call("run", { ...RUN, params: nested(200) }),
  "another transport": call("run", { ...RUN, transport: "ipc" }),
  "a long address": call("run", { ...RUN, address: "1".repeat(3_000) }),
  "another member": call("run", { ...RUN, access: "all" }),
  "a connection of another kind": call("run", { ...RUN, connection: "1" }),
  "a caller without an address": call("admit", { caller: { ...CALLER, remoteAddress: undefined }, connection: 1 }),
  "a cost that is no number": event("charge", { id: 1, cost: Number.NaN }),
  "a cost below nothing": event("charge", { id: 1, cost: -1 }),
  "an endless cost": event("charge", { id: 1, cost: Number.POSITIVE_INFINITY }),
  "no number of a connection": event("took", {}),
  "another listener": event("ended", { listener: "ipc" }),
  "a source that is a number": event("badToken", { source: 1 }),
  "records that are no list": event("calls", { records: {}, more: 0 }),
  "more records than there can be": event("calls", { records: Array(100).fill(RECORD), more: 0 }),
  "a record without a count": event("calls", { records: [{ ...RECORD, count: undefined }], more: 0 }),
  "a level that there is not": event("log", { ...LOG, level: "child" }),
  "a message that is an object": event("log", { ...LOG, message: {} }),
  "data in data": event("log", { ...LOG, data: { error: {} } }),
  "events that there are not": event("chain.subscribe", { id: 1, names: ["onRollback"] }),
  "a transaction that is a text": call("chain.submit", { transaction: "0x02" }),
  "a transaction that was decoded": call("chain.submit", { transaction: { tx: {}, sender: SENDER } }),
  "a transaction that is too long": call("chain.submit", { transaction: new Uint8Array(BODY_BYTES_MAX + 1) }),
  "a transaction with its sender": call("chain.submit", { transaction: new Uint8Array(9), sender: SENDER }),
  "proofs that were verified": call("chain.submit", { transaction: new Uint8Array(9), isVerified: true }),
};

test("ProcessMessages.decode gives what an RPC process sends as it is", () => {
  for (const message of RIGHT) assert.deepEqual(decode(message), [message]);
});

for (const [name, message] of Object.entries(WRONG)) {
  test(`ProcessMessages.decode rejects ${name}`, () => {
    assert.throws(() => decode(message), ProcessMessageError);
  });
}

test("ProcessMessages.decode rejects what is no list", () => {
  const messages = new ProcessMessages(NAMES, BODY_BYTES_MAX);
  for (const value of [undefined, null, "x", {}, new Map()]) {
    assert.throws(() => [...messages.decode(value)], { code: "RPC_PROCESS_MESSAGE" });
  }
});

test("ProcessMessages.decode rejects a second call with the number of the first, and takes what was before it", () => {
  const messages = new ProcessMessages(NAMES, BODY_BYTES_MAX);
  const taken: ChannelMessage[] = [];
  assert.throws(() => {
    for (const each of messages.decode([call("node.info", undefined, 4), call("node.info", undefined, 4)]))
      taken.push(each);
  }, ProcessMessageError);
  assert.equal(taken.length, 1);
  assert.deepEqual([...messages.decode([{ kind: "abort", id: 4 }])].length, 1);
});
