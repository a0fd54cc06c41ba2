import assert from "node:assert/strict";
import { test } from "node:test";
import { createEvm } from "../evm/engine.ts";
import type { CallArguments } from "../execution/call/call-arguments.ts";
import {
  account,
  alice,
  allocWith,
  bob,
  contract,
  testChain,
} from "../execution/testing/factories.ts";
import type { Address } from "../primitives/address.ts";
import { hashFromBigint } from "../primitives/hash.ts";
import { type Hex, hexToBytes } from "../primitives/hex.ts";
import { traceCall } from "./trace-call.ts";
import { createTraceBudget } from "./trace-budget.ts";
import type { TraceOptions } from "./trace-message.ts";

const caller = `0x${"ca".repeat(20)}` as Address;
const slot = hashFromBigint(1n);

/** Calls `contract` with a value of 1 and 4 bytes of input, and stores what the call gave in slot 0. */
const CALLS_CONTRACT: Hex = `0x5f5f60045f600173${contract.slice(2)}61ffff f15f55`.replace(
  " ",
  "",
) as Hex;

/** @param code of `contract`, whose slot 1 holds 42 */
function trace(
  code: Hex,
  options: Partial<Omit<TraceOptions, "budget">> = {},
  args: CallArguments = {},
  limits: { readonly timeoutMs?: number; readonly charsMax?: number } = {},
) {
  const stored = { ...account({ nonce: 1n, code }), storage: new Map([[slot, 42n]]) };
  const { genesis, modules } = testChain(
    allocWith("0x", [
      [contract, stored],
      [caller, account({ nonce: 1n, balance: 9n, code: CALLS_CONTRACT })],
    ]),
  );
  const { header, state, blockHash } = genesis;
  const text = traceCall(
    { from: alice, to: contract, ...args },
    { header, state, blockHash },
    { ...modules, evm: createEvm() },
    { budget: createTraceBudget({ timeoutMs: 5_000, charsMax: 1e6, ...limits }), ...options },
  );
  return JSON.parse(text);
}

test("the struct logger shows stack, memory and every slot seen so far", () => {
  // SLOAD slot 1, then MSTORE it at 0, then SSTORE 7 to slot 2
  const { structLogs, failed, gas } = trace("0x6001545f526007600255", { enableMemory: true });
  assert.equal(failed, false);
  assert.equal(gas, 21_000 + 3 + 2_100 + 2 + 6 + 3 + 3 + 22_100);
  const [push, sload, , mstore, , , sstore] = structLogs;
  assert.deepEqual(push, { pc: 0, op: "PUSH1", gas: 49_979_000, gasCost: 3, depth: 1, stack: [] });
  assert.deepEqual(sload.storage, { [slot]: hashFromBigint(42n) });
  assert.equal(mstore.memory, undefined);
  assert.deepEqual(sstore.memory, [hashFromBigint(42n)]);
  assert.deepEqual(sstore.storage, {
    [slot]: hashFromBigint(42n),
    [hashFromBigint(2n)]: hashFromBigint(7n),
  });
});

test("the struct logger keeps as many steps as it is told", () => {
  const { structLogs } = trace("0x5f5f5f5f", { limit: 2, disableStack: true });
  assert.deepEqual(structLogs, [
    { pc: 0, op: "PUSH0", gas: 49_979_000, gasCost: 2, depth: 1 },
    { pc: 1, op: "PUSH0", gas: 49_978_998, gasCost: 2, depth: 1 },
  ]);
});

test("the struct logger says why an opcode failed", () => {
  const { structLogs, failed, returnValue } = trace("0x50");
  assert.equal(failed, true);
  assert.equal(returnValue, "0x");
  assert.equal(structLogs[0].error, "stack underflow (0 <=> 1)");
});

test("callTracer shows calls in calls, and takes the logs of failed ones away", () => {
  const logThenRevert: Hex = "0x5f5fa05f5ffd";
  const tracerConfig = { withLog: true };
  const options = { tracer: "callTracer", tracerConfig };
  const frame = trace(logThenRevert, options, { to: caller });
  assert.equal(frame.type, "CALL");
  assert.equal(frame.gas, "0x2faf080");
  assert.equal(frame.error, undefined);
  const [inner] = frame.calls;
  assert.equal(inner.from, caller);
  assert.equal(inner.to, contract);
  assert.equal(inner.value, "0x1");
  assert.equal(inner.input, "0x00000000");
  assert.equal(inner.error, "execution reverted");
  assert.equal(inner.logs, undefined);

  const logOnly: Hex = "0x5f5fa0";
  assert.deepEqual(trace(logOnly, options, { to: caller }).calls[0].logs, [
    { address: contract, topics: [], data: "0x", index: "0x0", position: "0x0" },
  ]);
  const topOnly = { tracer: "callTracer", tracerConfig: { onlyTopCall: true } };
  assert.equal(trace(logOnly, topOnly, { to: caller }).calls, undefined);
});

test("prestateTracer shows what the call touched as it was before", () => {
  const shown = trace("0x6007600155", { tracer: "prestateTracer" }, { to: caller });
  assert.deepEqual(Object.keys(shown).sort(), [alice, caller, contract].sort());
  assert.deepEqual(shown[contract].storage, { [slot]: hashFromBigint(42n) });
  assert.equal(shown[contract].nonce, 1);
  assert.equal(shown[contract].code, "0x6007600155");
  assert.equal(shown[caller].balance, "0x9");
});

test("prestateTracer in diff mode shows only what changed", () => {
  const options = { tracer: "prestateTracer", tracerConfig: { diffMode: true } };
  const { pre, post } = trace("0x5f600155", options, { to: caller });
  assert.deepEqual(pre[contract].storage, { [slot]: hashFromBigint(42n) });
  assert.deepEqual(post[contract], { balance: "0x1" });
  assert.deepEqual(post[caller], {
    balance: "0x8",
    storage: { [hashFromBigint(0n)]: hashFromBigint(1n) },
  });
  assert.equal(pre[caller].storage, undefined);
  assert.deepEqual(post[alice], { nonce: 1 });
});

test("4byteTracer counts selectors with the length of what follows", () => {
  const data = hexToBytes("0x11223344aabb");
  const counts = trace("0x", { tracer: "4byteTracer" }, { to: caller, data });
  assert.deepEqual(counts, { "0x11223344-2": 1, "0x00000000-0": 1 });
});

test("flatCallTracer gives each frame its address in the tree", () => {
  const frames = trace("0x5f5ffd", { tracer: "flatCallTracer" }, { to: caller });
  assert.deepEqual(
    frames.map(({ traceAddress, subtraces, error }: Record<string, unknown>) => ({
      ...{ traceAddress, subtraces, error },
    })),
    [
      { traceAddress: [], subtraces: 1, error: undefined },
      { traceAddress: [0], subtraces: 0, error: "execution reverted" },
    ],
  );
});

test("keccak256PreimageTracer tells what was hashed", () => {
  const preimages = trace("0x60205f20", { tracer: "keccak256PreimageTracer" });
  assert.deepEqual(Object.values(preimages), [hashFromBigint(0n)]);
});

test("muxTracer runs several tracers over one execution", () => {
  const tracerConfig = { noopTracer: null, "4byteTracer": {} };
  const shown = trace("0x", { tracer: "muxTracer", tracerConfig }, { to: caller });
  assert.deepEqual(shown, { noopTracer: {}, "4byteTracer": { "0x00000000-0": 1 } });
});

test("a tracer nobody knows is refused, and so is a configuration that contradicts itself", () => {
  assert.throws(() => trace("0x", { tracer: "nothing" }), { code: "TRACE_INVALID_TRACER" });
  const tracerConfig = { diffMode: true, includeEmpty: true };
  assert.throws(() => trace("0x", { tracer: "prestateTracer", tracerConfig }), {
    code: "TRACE_INVALID_TRACER",
  });
});

test("a trace that takes too long ends", () => {
  const loop: Hex = "0x5b5f56";
  assert.throws(() => trace(loop, { tracer: "noopTracer" }, {}, { timeoutMs: 20 }), {
    code: "TRACE_TIMEOUT",
  });
});

test("a call that may not begin cannot be traced", () => {
  assert.throws(() => trace("0x", {}, { from: bob, value: 1n }), { code: "TRACE_FAILED" });
});
