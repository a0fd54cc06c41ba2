import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address } from "../../../src/base/primitives/address.ts";
import { bytesToBigint, EMPTY_BYTES } from "../../../src/base/primitives/bytes.ts";
import { hashFromBigint } from "../../../src/base/primitives/hash.ts";
import { hexToBytes } from "../../../src/base/primitives/hex.ts";
import type { ExecuteOptions, Message } from "../../../src/evm/machine/evm.ts";
import { createWorldState } from "../../../src/evm/state/world-state.ts";
import { testBlock, testMessage } from "../../support/evm/machine/environment.ts";
import { createMemoryState } from "../../support/evm/state/memory-state.ts";
import { createEthereumjsEvm } from "./evm.ts";

const alice = `0x${"aa".repeat(20)}` as Address;
const contract = `0x${"cc".repeat(20)}` as Address;
/** CREATE address of `alice` at nonce 0, the nonce before the caller raised it. */
const created = "0x3c952d36207c0d52743a646e7ac2649009bd358e" as Address;

const block = testBlock({ hardfork: "prague" });

const evm = createEthereumjsEvm();

function run(code: `0x${string}`, overrides: Partial<Message> = {}, options?: ExecuteOptions) {
  const state = createWorldState(createMemoryState());
  state.setAccount(alice, { nonce: 1n, balance: 10n ** 18n, codeHash: state.putCode(EMPTY_BYTES) });
  const codeHash = state.putCode(hexToBytes(code));
  state.setAccount(contract, { nonce: 1n, balance: 0n, codeHash });
  const message = testMessage({
    to: contract,
    caller: alice,
    origin: alice,
    gasPrice: 7n,
    ...overrides,
  });
  return { state, result: evm.execute(message, block, state, options) };
}

test("execute answers at once with return data and gas left", () => {
  // BASEFEE PUSH0 MSTORE 32 PUSH0 RETURN
  const { result } = run("0x485f5260205ff3");
  assert.equal(result.outcome, "success");
  assert.equal(bytesToBigint(result.returnData), 7n);
  assert.equal(result.gasLeft, 1_000_000n - 2n - 2n - 6n - 3n - 2n);
});

test("execute keeps storage on success and undoes it on revert", () => {
  const stored = run("0x602a600155");
  assert.equal(stored.state.storage(contract, hashFromBigint(1n)), 42n);
  const reverted = run("0x602a60015560015f5360015ffd", { value: 5n });
  assert.equal(reverted.result.outcome, "revert");
  assert.deepEqual(reverted.result.returnData, hexToBytes("0x01"));
  assert.equal(reverted.state.storage(contract, hashFromBigint(1n)), 0n);
  assert.equal(reverted.state.account(alice)?.balance, 10n ** 18n);
});

test("execute names the reason of a halt", () => {
  assert.deepEqual(run("0xfe").result.halt, { kind: "invalidOpcode", opcode: 0xfe });
  assert.deepEqual(run("0x600101").result.halt, { kind: "stackUnderflow", have: 1, need: 2 });
  assert.deepEqual(run("0x5b5f56").result.halt, { kind: "outOfGas" });
  assert.deepEqual(run("0x600556").result.halt, { kind: "invalidJump" });
  assert.equal(run("0xfe").result.gasLeft, 0n);
});

test("execute goes 1024 frames deep", () => {
  // Each frame calls itself with all gas and adds one to what the callee returned.
  const { result } = run("0x60205f5f5f5f305af1505f5160010160005260205ff3", { gas: 10n ** 15n });
  assert.equal(result.outcome, "success");
  assert.equal(bytesToBigint(result.returnData), 1025n);
});

test("execute creates a contract at the address it is given", () => {
  // The init code returns one byte 0x00.
  const creation = { to: null, createAddress: created, data: hexToBytes("0x60015ff3") };
  const { result, state } = run("0x", creation);
  assert.equal(result.outcome, "success");
  assert.deepEqual(result.returnData, hexToBytes("0x00"));
  assert.equal(state.account(created)?.nonce, 1n);
  assert.deepEqual(state.code(state.account(created)!.codeHash), hexToBytes("0x00"));
});

test("execute leaves an endless loop at the deadline and undoes everything", () => {
  const options = { deadlineMs: performance.now() + 20 };
  const { result, state } = run("0x602a6001555b600556", { gas: 10n ** 12n }, options);
  assert.deepEqual(result.halt, { kind: "timeout" });
  assert.equal(state.storage(contract, hashFromBigint(1n)), 0n);
});

test("execute runs the precompiles it is given in place of the fork's own", () => {
  const precompiles = new Map([[contract, { name: "ANSWER", gas: () => 100n, run: () => Uint8Array.of(42) }]]);
  const { result } = run("0x", {}, { precompiles });
  assert.deepEqual([...result.returnData], [42]);
  assert.equal(result.gasLeft, 1_000_000n - 100n);
  assert.equal(run("0x").result.returnData.length, 0);
});

test("a tracer sees frames, steps and logs", () => {
  const events: string[] = [];
  // CALL the identity precompile, LOG1 with topic 9, SLOAD slot 3
  const { result } = run(
    "0x5f5f5f5f5f600461fffff15060095f5fa1600354",
    {},
    {
      tracer: {
        onEnter: ({ type, to }, depth) => events.push(`enter ${depth} ${type} ${to.slice(-2)}`),
        onExit: ({ outcome }, depth) => events.push(`exit ${depth} ${outcome}`),
        onLog: ({ topics }) => events.push(`log ${BigInt(topics[0] ?? 0)}`),
        onStep: ({ opcode, gas, gasCost }) => {
          if (opcode === 0x54) events.push(`SLOAD ${gas > gasCost} ${gasCost}`);
        },
      },
    },
  );
  assert.equal(result.outcome, "success");
  assert.deepEqual(events, [
    "enter 0 CALL cc",
    "enter 1 CALL 04",
    "exit 1 success",
    "log 9",
    "SLOAD true 2100",
    "exit 0 success",
  ]);
});
