import assert from "node:assert/strict";
import { test } from "node:test";
import { account, alice, allocWith, bob, contract, testChain } from "../../../test/support/evm/execution/factories.ts";
import { addressFromPrivateKey } from "../../base/crypto/secp256k1.ts";
import { type Address, ZERO_ADDRESS } from "../../base/primitives/address.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { type Hex, hexToBytes } from "../../base/primitives/hex.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import { signAuthorization } from "../../base/types/transaction/sign.ts";
import type { CallOptions } from "../execution/call/call.ts";
import type { CallArguments } from "../execution/call/call-arguments.ts";
import { createEvm } from "../machine/engine.ts";
import { textString } from "./json-writer.ts";
import { createTracers } from "./native-tracers.ts";
import { createJsonLogger } from "./struct-logger.ts";
import { createTraceBudget } from "./trace-budget.ts";
import { traceCall } from "./trace-call.ts";
import type { TraceOptions } from "./trace-message.ts";

const tracers = createTracers({ scriptMemoryBytesMax: 32 * 2 ** 20 });
const caller = `0x${"ca".repeat(20)}` as Address;
const slot = hashFromBigint(1n);

/** Calls `contract` with a value of 1 and 4 bytes of input, and stores what the call gave in slot 0. */
const CALLS_CONTRACT: Hex = `0x5f5f60045f600173${contract.slice(2)}61ffff f15f55`.replace(" ", "") as Hex;

/** @param code of `contract`, whose slot 1 holds 42 */
function chainWith(code: Hex) {
  const stored = { ...account({ nonce: 1n, code }), storage: new Map([[slot, 42n]]) };
  const calling = account({ nonce: 1n, balance: 9n, code: CALLS_CONTRACT });
  return testChain(
    allocWith("0x", [
      [contract, stored],
      [caller, calling],
    ]),
  );
}

/** @param code see `chainWith` */
function traceText(
  code: Hex,
  options: Partial<Omit<TraceOptions, "budget" | "tracers">> & Pick<CallOptions, "blockOverrides"> = {},
  args: CallArguments = {},
  limits: { readonly timeoutMs?: number; readonly charsMax?: number } = {},
): string {
  const { genesis, modules } = chainWith(code);
  const { header, state, blockHash } = genesis;
  const text = traceCall(
    { from: alice, to: contract, ...args },
    { header, state, blockHash },
    { ...modules, evm: createEvm() },
    {
      tracers,
      budget: createTraceBudget({ timeoutMs: 3_600_000, charsMax: 1e6, ...limits }),
      ...options,
    },
  );
  return textString(text);
}

const trace = (...args: Parameters<typeof traceText>) => JSON.parse(traceText(...args));

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

test("the struct logger notes nothing of a slot whose opcode fails", () => {
  // SSTORE 7 to slot 2 with less than the sentry, in a frame of its own, then SLOAD of slot 1 in the caller.
  for (const failing of ["600760025560015400", "5f5f5f60015400"]) {
    const { structLogs } = trace(`0x${failing}`, {}, { gas: 21_000n + 2_000n });
    assert.equal(structLogs.at(-1).error === undefined, false);
    assert.equal(structLogs.at(-1).storage, undefined);
  }
});

test("prestateTracer in diff mode shows code that is gone (EIP-7702)", () => {
  const key = new Uint8Array(32).fill(9);
  const authority = addressFromPrivateKey(key);
  const delegated = account({ nonce: 1n, code: `0xef0100${contract.slice(2)}` });
  const { genesis, modules } = testChain(allocWith("0x", [[authority, delegated]]));
  const { header, state, blockHash } = genesis;
  const authorization = signAuthorization({ chainId: 1n, address: ZERO_ADDRESS, nonce: 1n }, key);
  const diffOf = (tracerConfig: object) => {
    const text = traceCall(
      { from: alice, to: contract, authorizationList: [authorization] },
      { header, state, blockHash },
      { ...modules, evm: createEvm() },
      {
        tracers,
        budget: createTraceBudget({ timeoutMs: 3_600_000, charsMax: 1e6 }),
        tracer: "prestateTracer",
        tracerConfig: { diffMode: true, ...tracerConfig },
      },
    );
    return JSON.parse(textString(text));
  };
  assert.deepEqual(diffOf({}).post[authority], { nonce: 2, code: "0x", codeHash: EMPTY_CODE_HASH });
  assert.deepEqual(diffOf({ disableCode: true }).post[authority], { nonce: 2, codeHash: EMPTY_CODE_HASH });
});

test("BLOCKHASH gives the traced block where the number is overridden with the next one", () => {
  const hashOfGenesis: Hex = "0x5f405f5260205ff3";
  const { hash } = chainWith(hashOfGenesis).genesis;
  const unknown = hashFromBigint(0n);
  const outputs = [0n, 1n, 2n].map(
    (number) => trace(hashOfGenesis, { tracer: "callTracer", blockOverrides: { number } }).output,
  );
  assert.deepEqual(outputs, [unknown, hash, unknown]);
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
      traceAddress,
      subtraces,
      error,
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
  assert.throws(() => trace("0x", { tracer: "nothing" }), { code: "TRACE_SCRIPT_FAILED" });
  const tracerConfig = { diffMode: true, includeEmpty: true };
  assert.throws(() => trace("0x", { tracer: "prestateTracer", tracerConfig }), {
    code: "TRACE_INVALID_TRACER",
  });
});

test("a trace that takes too long ends", () => {
  const loop: Hex = "0x5b5f56";
  // The gas of a call lasts for ten times as long on any machine.
  assert.throws(() => trace(loop, { tracer: "noopTracer" }, {}, { timeoutMs: 1 }), {
    code: "TRACE_TIMEOUT",
  });
});

test("a call that may not begin cannot be traced", () => {
  assert.throws(() => trace("0x", {}, { from: bob, value: 1n }), { code: "TRACE_FAILED" });
});

/** gasCost and error of the last step. */
const lastStep = (code: Hex, gas: bigint) => {
  const { structLogs } = trace(code, {}, { gas: 21_000n + gas });
  const { op, gasCost, error } = structLogs.at(-1);
  return [op, gasCost, error];
};

test("the struct logger shows what the step that failed would have cost", () => {
  const cold = "ca11".repeat(10);
  const cases: readonly (readonly [code: Hex, gas: bigint, ...step: unknown[]])[] = [
    ["0x5f", 1n, "PUSH0", 2, "out of gas"],
    ["0x50", 9n, "POP", 2, "stack underflow (0 <=> 1)"],
    ["0x0c", 9n, "opcode 0xc not defined", 0, undefined],
    // A new slot, cold; a slot that is cleared; the sentry of EIP-2200
    ["0x6007600955", 10_000n, "SSTORE", 22_100, "out of gas"],
    ["0x5f600155", 4_000n, "SSTORE", 5_000, "out of gas"],
    ["0x5f600155", 2_000n, "SSTORE", 0, "out of gas: not enough gas for reentrancy sentry"],
    ["0x600154", 50n, "SLOAD", 2_100, "out of gas"],
    ["0x61100051", 20n, "MLOAD", 3 + 129 * 3 + 32, "out of gas"],
    ["0x61100061100020", 500n, "KECCAK256", 30 + 128 * 6 + 256 * 3 + 128, "out of gas"],
    ["0x60ff5fa0", 100n, "LOG0", 375 + 8 * 255 + 24, "out of gas"],
    ["0x61ffff600a0a", 20n, "EXP", 110, "out of gas"],
    [`0x73${cold}31`, 200n, "BALANCE", 2_600, "out of gas"],
    [`0x73${cold}31`, 50n, "BALANCE", 100, "out of gas"],
    [`0x5f5f5f5f5f73${cold}5af1`, 500n, "CALL", 100, "out of gas: out of gas"],
    ["0x5f5f5ff0", 100n, "CREATE", 32_000, "out of gas"],
    [`0x73${cold}ff`, 6_000n, "SELFDESTRUCT", 5_000, "out of gas: out of gas"],
  ];
  for (const [code, gas, ...step] of cases) {
    assert.deepEqual(lastStep(code, gas), step, `${code} with ${gas}`);
  }
});

test("the JSON logger writes a step that fails after it was paid for once more, as it stands then", () => {
  const factory: TraceOptions["factory"] = (_config, seen) => createJsonLogger({}, seen);
  const linesOf = (code: string, args: CallArguments = {}) =>
    traceText(`0x${code}`, { factory }, args)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  const reverted = "execution reverted";
  const cases: readonly (readonly [code: string, op: string, stack: readonly string[], size: number, error: string])[] =
    [
      // What is left on the stack is 7; REVERT and RETURNDATACOPY have memory by then.
      ["600760016021fd", "REVERT", ["0x7"], 64, reverted],
      ["6007600456", "JUMP", ["0x7"], 0, "invalid jump destination"],
      ["60076001600457", "JUMPI", ["0x7"], 0, "invalid jump destination"],
      ["6007602060015f3e", "RETURNDATACOPY", ["0x7"], 32, "return data out of bounds"],
      ["6007fe", "INVALID", ["0x7"], 0, "invalid opcode: INVALID"],
      ["60070c", "opcode 0xc not defined", ["0x7"], 0, "invalid opcode: opcode 0xc not defined"],
    ];
  for (const [code, opName, stack, memSize, error] of cases) {
    const [paid, failed, end] = linesOf(code).slice(-3);
    assert.deepEqual([paid.opName, paid.error, paid.memSize], [opName, undefined, 0], opName);
    const { pc, op, gas, gasCost, depth, refund } = paid;
    assert.deepEqual(failed, { pc, op, gas, gasCost, memSize, stack, depth, refund, opName, error }, opName);
    assert.equal(end.error, error, opName);
  }
  // One that cannot pay is written once, and code that is rejected is the output of its frame.
  const poor = linesOf("60076009f0", { gas: 21_010n });
  assert.equal(poor.filter(({ opName }) => opName === "CREATE").length, 1);
  const rejected = linesOf("60ef5f5360015ff3", { to: null, data: hexToBytes("0x60ef5f5360015ff3") });
  assert.deepEqual([rejected.at(-1).output, rejected.at(-1).error], ["ef", "invalid code: must not begin with 0xef"]);
});

test("the struct logger shows the whole cost of a step whose memory is too dear", () => {
  // Five bytes at 2^20 end in word 32,769.
  const memory = 3 * 32_769 + Math.floor(32_769 ** 2 / 512);
  const at = "62100000";
  const cases: readonly (readonly [code: string, op: string, rest: number])[] = [
    [`${at}51`, "MLOAD", 3],
    [`5f${at}52`, "MSTORE", 3],
    ["5f6210000453", "MSTORE8", 3],
    [`6005${at}20`, "KECCAK256", 30 + 6],
    [`60055f${at}37`, "CALLDATACOPY", 3 + 3],
    [`60055f${at}39`, "CODECOPY", 3 + 3],
    [`60055f${at}3e`, "RETURNDATACOPY", 3 + 3],
    [`60055f${at}5e`, "MCOPY", 3 + 3],
    [`60055f${at}303c`, "EXTCODECOPY", 100 + 3],
    ...[0, 1, 2, 3, 4].map((n) => [`${"5f".repeat(n)}6005${at}a${n}`, `LOG${n}`, 375 * (n + 1) + 5 * 8] as const),
    [`6005${at}5ff0`, "CREATE", 32_000 + 2],
    [`5f6005${at}5ff5`, "CREATE2", 32_000 + 2 + 6],
    [`6005${at}f3`, "RETURN", 0],
    [`6005${at}fd`, "REVERT", 0],
  ];
  for (const [code, op, rest] of cases) {
    assert.deepEqual(lastStep(`0x${code}`, 100_000n), [op, memory + rest, "out of gas"], op);
  }
});

test("a halted step that is priced again leaves nothing behind", () => {
  // The first slot is refunded, then the frame runs out of gas: nothing of it may show in the caller's frame.
  const { structLogs } = trace("0x5f600155 60076009 55".replaceAll(" ", "") as Hex, {}, { to: caller, gas: 48_000n });
  const after = structLogs.at(-1);
  assert.equal(after.depth, 1);
  assert.equal(after.refund, undefined);
});

test("empty init code has no step", () => {
  assert.deepEqual(trace("0x", {}, { to: null }).structLogs, []);
  // CREATE of nothing, then STOP
  const { structLogs } = trace("0x5f5f5ff0");
  assert.deepEqual(
    structLogs.map(({ op, depth }: { op: string; depth: number }) => [op, depth]),
    [
      ["PUSH0", 1],
      ["PUSH0", 1],
      ["PUSH0", 1],
      ["CREATE", 1],
      ["STOP", 1],
    ],
  );
});

test("the refund counter of a struct log begins with what authorizations give back (EIP-7702)", () => {
  const key = new Uint8Array(32).fill(1);
  const signed = signAuthorization({ chainId: 0n, address: contract, nonce: 1n }, key);
  const { structLogs } = trace("0x00", {}, { authorizationList: [signed] });
  assert.equal(structLogs[0].refund, 12_500);
});

test("prestateTracer leaves out the target of a call that has no gas for it, and who did not change", () => {
  const cold = `0x${"ca11".repeat(10)}`;
  const code: Hex = `0x5f5f5f5f5f73${cold.slice(2)}5af1`;
  const tracerConfig = { includeEmpty: true };
  const options = { tracer: "prestateTracer", tracerConfig };
  assert.equal(cold in trace(code, options, { gas: 21_500n }), false);
  assert.equal(cold in trace(code, options, { gas: 40_000n }), true);
  const diff = { tracer: "prestateTracer", tracerConfig: { diffMode: true } };
  // SSTORE of the value that is there already: the contract is touched and stays as it is.
  const { pre, post } = trace("0x602a600155", diff);
  assert.deepEqual([pre[contract], post[contract]], [undefined, undefined]);
  assert.deepEqual(post[alice], { nonce: 1 });
});

test("flatCallTracer gives a call of its own no place in a block, and a creation that reverts its output", () => {
  const [frame] = trace("0x", { tracer: "flatCallTracer" });
  assert.deepEqual(
    [frame.transactionPosition, frame.transactionHash, frame.blockHash, frame.blockNumber],
    [0, null, null, 0],
  );
  const data = hexToBytes("0x60ff5f5260205ffd");
  const [creation] = trace("0x", { tracer: "flatCallTracer" }, { to: null, data });
  assert.equal(creation.error, "execution reverted");
  assert.equal(creation.result.code, hashFromBigint(255n));
});

test("a switch of a tracer that is no boolean is rejected, also inside muxTracer", () => {
  const message = (field: string) => `json: cannot unmarshal number into Go struct field ${field} of type bool`;
  for (const [tracer, name, field] of [
    ["callTracer", "withLog", "callTracerConfig.withLog"],
    ["prestateTracer", "diffMode", "PrestateTracerConfig.diffMode"],
    ["flatCallTracer", "includePrecompiles", "flatCallTracerConfig.includePrecompiles"],
  ] as const) {
    const error = { code: "TRACE_INVALID_TRACER", message: message(field) };
    const tracerConfig = { [name]: 5 };
    assert.throws(() => trace("0x00", { tracer, tracerConfig }), error);
    const inside = { tracer: "muxTracer", tracerConfig: { [tracer]: tracerConfig } };
    assert.throws(() => trace("0x00", inside), error);
    assert.ok(trace("0x00", { tracer, tracerConfig: { [name]: null } }));
  }
});

test("all traces of a request share one budget", () => {
  const loop: Hex = "0x60ff5b600190038060025700";
  for (const tracer of [undefined, "callTracer", "prestateTracer", "flatCallTracer"]) {
    const options = tracer === undefined ? {} : { tracer };
    assert.throws(() => trace(loop, options, {}, { charsMax: 100 }), { code: "TRACE_TOO_LARGE" });
  }
  const budget = createTraceBudget({ timeoutMs: 0, charsMax: 100 });
  budget.take(100);
  assert.throws(() => budget.take(1), { code: "TRACE_TOO_LARGE" });
});

test("erc7562Tracer shows the slots, opcodes and contracts that each frame used", () => {
  // SLOAD 1, SSTORE 1, TSTORE 2, KECCAK256 of one zero word, GAS without a call, EXTCODESIZE of bob
  const code = `0x60015450602a60015560016002${"5d"}60205f20505a5073${bob.slice(2)}3b5000` as Hex;
  const shown = trace(code, { tracer: "erc7562Tracer" });
  assert.equal(shown.type, "CALL");
  assert.deepEqual(shown.accessedSlots, {
    reads: { [slot]: [hashFromBigint(42n)] },
    writes: { [slot]: 1 },
    transientReads: {},
    transientWrites: { [hashFromBigint(2n)]: 1 },
  });
  assert.deepEqual(shown.keccak, [hashFromBigint(0n)]);
  assert.deepEqual(shown.extCodeAccessInfo, [bob]);
  assert.deepEqual(shown.contractSize, { [bob]: { contractSize: 0, opcode: 0x3b } });
  assert.deepEqual(shown.usedOpcodes, {
    "0x0": 1,
    "0x20": 1,
    "0x3b": 1,
    "0x54": 1,
    "0x55": 1,
    "0x5a": 1,
    "0x5d": 1,
  });
  assert.equal(shown.outOfGas, false);
});

test("erc7562Tracer does not count GAS before a call, nor the opcodes a caller names", () => {
  // GAS CALL, as compilers write it
  const code = `0x5f5f5f5f5f73${caller.slice(2)}5af100` as Hex;
  const tracerConfig = { ignoredOpcodes: ["0x0", "0x5f", "0x73"] };
  const { usedOpcodes, calls } = trace(code, { tracer: "erc7562Tracer", tracerConfig });
  assert.deepEqual(usedOpcodes, { "0xf1": 1 });
  assert.equal(calls[0].type, "CALL");
});

test("erc7562Tracer says which inner frame ran out of gas", () => {
  // A call with no gas of what needs some.
  const { calls, outOfGas } = trace("0x600154", { tracer: "erc7562Tracer" }, { to: caller, gas: 40_000n });
  assert.deepEqual([outOfGas, calls[0].outOfGas], [false, false]);
  const starved = trace(`0x5f5f5f5f5f73${caller.slice(2)}600af100` as Hex, {
    tracer: "erc7562Tracer",
  });
  assert.deepEqual([starved.outOfGas, starved.calls[0].outOfGas], [false, true]);
});

test("a configuration of erc7562Tracer that is wrong is rejected", () => {
  for (const tracerConfig of [
    { ignoredOpcodes: {} },
    { ignoredOpcodes: [1] },
    { stackTopItemsSize: "3" },
    { withLog: 1 },
  ]) {
    assert.throws(() => trace("0x", { tracer: "erc7562Tracer", tracerConfig }), {
      code: "TRACE_INVALID_TRACER",
    });
  }
});
