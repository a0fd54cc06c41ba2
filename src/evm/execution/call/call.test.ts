import assert from "node:assert/strict";
import { test } from "node:test";
import {
  account,
  alice,
  allocWith,
  bob,
  contract,
  countingReads,
  ETHER,
  testChain,
} from "../../../../test/support/evm/execution/factories.ts";
import { type Address, checksumAddress } from "../../../base/primitives/address.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import { hashFromBigint } from "../../../base/primitives/hash.ts";
import { type Hex, hexToBytes } from "../../../base/primitives/hex.ts";
import { call, type SingleCallOptions } from "./call.ts";
import type { CallArguments } from "./call-arguments.ts";
import { durationText } from "./call-errors.ts";
import type { AccountOverride } from "./overrides.ts";

/** RETURN of the one word that the opcodes before leave on the stack. */
const RETURN_TOP = "5f5260205ff3";
const slot = hashFromBigint(1n);
const identity = `0x${"04".padStart(40, "0")}` as Address;

/** A contract that returns its slot 1, and stores 42 there. */
const ownStorage = () => ({
  ...account({ code: `0x600154${RETURN_TOP}` }),
  storage: new Map([[slot, 42n]]),
});

function run(code: Hex, args: CallArguments = {}, options: SingleCallOptions = {}) {
  const stored = { ...account({ nonce: 1n, balance: 9n, code }), storage: new Map([[slot, 42n]]) };
  const { genesis, modules } = testChain(allocWith("0x", [[contract, stored]]));
  const { header, state, blockHash } = genesis;
  return call({ to: contract, ...args }, { header, state, blockHash }, modules, options);
}

function runNumber(code: Hex, args?: CallArguments, options?: SingleCallOptions): bigint {
  return bytesToBigint(run(code, args, options));
}

function overriding(address: Address, override: AccountOverride): SingleCallOptions {
  return { stateOverrides: new Map([[address, override]]) };
}

test("call returns what the code returns, and nothing where there is no code", () => {
  assert.equal(runNumber(`0x600154${RETURN_TOP}`), 42n);
  assert.equal(run("0x").length, 0);
});

test("call returns no more than it may, also of a revert", () => {
  for (const end of ["f3", "fd"]) {
    assert.throws(() => run(`0x60215f${end}`, {}, { returnBytesMax: 32 }), {
      code: "CALL_RETURN_TOO_LARGE",
      details: { length: 33, returnBytesMax: 32 },
    });
  }
  assert.equal(run("0x60205ff3", {}, { returnBytesMax: 32 }).length, 32);
});

test("call gives 50,000,000 gas and silently cuts down to it", () => {
  const gasCode: Hex = `0x5a${RETURN_TOP}`;
  const start = 50_000_000n - 21_000n - 2n;
  assert.equal(runNumber(gasCode), start);
  assert.equal(runNumber(gasCode, { gas: 10n ** 12n }), start);
  assert.equal(runNumber(gasCode, { gas: 100_000n }), 100_000n - 21_002n);
  assert.equal(runNumber(gasCode, { gas: 60_000_000n }, { gasCap: 0n }), 60_000_000n - 21_002n);
});

test("call sees a base fee of 0 unless it pays a price", () => {
  const baseFee: Hex = `0x48${RETURN_TOP}`;
  assert.equal(runNumber(baseFee), 0n);
  assert.equal(runNumber(baseFee, { from: alice, gasPrice: 2n * 10n ** 9n }), 10n ** 9n);
});

test("call refuses a sender that can not pay, in geth's words", () => {
  const address = checksumAddress(bob);
  assert.throws(() => run("0x", { from: bob, value: 1_000n }), {
    code: "CALL_REFUSED",
    message: `err: insufficient funds for gas * price + value: address ${address} have 0 want 1000 (supplied gas 50000000)`,
  });
  assert.throws(() => run("0x", { gas: 1n }), {
    code: "CALL_REFUSED",
    message: "err: intrinsic gas too low: have 1, want 21000 (supplied gas 1)",
  });
});

test("call tells a revert with its bytes and reason, and a halt by its name", () => {
  assert.throws(() => run("0x60015f5360015ffd"), {
    code: "EXECUTION_REVERTED",
    message: "execution reverted",
    data: hexToBytes("0x01"),
  });
  assert.throws(() => run("0xfe"), {
    code: "EXECUTION_HALTED",
    message: "invalid opcode: INVALID",
  });
});

test("call is aborted after its time", () => {
  assert.throws(() => run("0x5b5f56", { gas: 10n ** 15n }, { gasCap: 0n, timeoutMs: 20 }), {
    code: "EXECUTION_TIMEOUT",
    message: "execution aborted (timeout = 20ms)",
  });
  const authorization = { chainId: 1n, address: bob, nonce: 0n, yParity: 0n, r: 1n, s: 1n };
  const authorizationList = Array.from({ length: 100 }, () => ({ ...authorization }));
  assert.throws(() => run("0x", { authorizationList }, { timeoutMs: 0 }), { code: "EXECUTION_TIMEOUT" });
  assert.deepEqual(run("0x", { authorizationList }), new Uint8Array());
  assert.equal(durationText(5_000), "5s");
  assert.equal(durationText(1_500), "1.5s");
  assert.equal(durationText(90_000), "1m30s");
});

test("call refuses contradicting arguments", () => {
  assert.throws(() => run("0x", { gasPrice: 1n, maxFeePerGas: 1n }), {
    code: "CALL_INVALID_ARGUMENTS",
    message: "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified",
  });
  assert.throws(() => run("0x", { chainId: 2n }), {
    code: "CALL_INVALID_ARGUMENTS",
    message: "chainId does not match node's (have=2, want=1)",
  });
});

test("state overrides change balance, nonce, code and storage for the call alone", () => {
  const load: Hex = `0x600154${RETURN_TOP}`;
  const other = hashFromBigint(2n);
  assert.equal(runNumber(`0x47${RETURN_TOP}`, {}, overriding(contract, { balance: 7n })), 7n);
  assert.equal(runNumber("0x", {}, overriding(contract, { code: hexToBytes(load) })), 42n);
  assert.equal(runNumber(load, {}, overriding(contract, { stateDiff: new Map([[slot, 5n]]) })), 5n);
  assert.equal(runNumber(load, {}, overriding(contract, { stateDiff: new Map([[other, 5n]]) })), 42n);
  assert.equal(runNumber(load, {}, overriding(contract, { state: new Map([[other, 5n]]) })), 0n);
  run("0x", { from: bob, value: 1n }, overriding(bob, { balance: ETHER }));
});

test("state overrides of storage count as original values (EIP-2200)", () => {
  // Writes back what the override put there: 100 gas and not 20000.
  const code: Hex = `0x5a6005600155 5a9003${RETURN_TOP}`.replaceAll(" ", "") as Hex;
  const used = runNumber(code, {}, overriding(contract, { stateDiff: new Map([[slot, 5n]]) }));
  assert.equal(used, 3n + 3n + 2_200n + 2n);
});

test("state overrides move precompiles and disable them", () => {
  const data = hexToBytes("0x1234");
  const moved = run("0x", { data }, overriding(identity, { movePrecompileToAddress: bob }));
  assert.equal(moved.length, 0);
  const atBob = run("0x", { to: bob, data }, overriding(identity, { movePrecompileToAddress: bob }));
  assert.deepEqual(atBob, data);
  const gone = run("0x", { to: identity, data }, overriding(identity, { balance: 1n }));
  assert.equal(gone.length, 0);
  assert.deepEqual(run("0x", { to: identity, data }), data);
});

test("state overrides that contradict each other are refused", () => {
  const slots = new Map([[slot, 1n]]);
  assert.throws(() => run("0x", {}, overriding(bob, { state: slots, stateDiff: slots })), {
    code: "CALL_INVALID_STATE_OVERRIDES",
    message: `account ${checksumAddress(bob)} has both 'state' and 'stateDiff'`,
  });
  assert.throws(() => run("0x", {}, overriding(bob, { movePrecompileToAddress: alice })), {
    message: `account ${checksumAddress(bob)} is not a precompile`,
  });
  assert.throws(() => run("0x", {}, overriding(identity, { movePrecompileToAddress: identity })), {
    message: `account ${identity} is already overridden`,
  });
  const sha256 = `0x${"02".padStart(40, "0")}` as Address;
  const ripemd160 = `0x${"03".padStart(40, "0")}` as Address;
  const both = new Map([
    [sha256, { movePrecompileToAddress: bob }],
    [ripemd160, { movePrecompileToAddress: bob }],
  ]);
  run("0x", {}, { stateOverrides: both });
});

test("block overrides are what the block opcodes answer", () => {
  const read = (opcode: string, options: SingleCallOptions["blockOverrides"]) =>
    runNumber(`0x${opcode}${RETURN_TOP}`, {}, options ? { blockOverrides: options } : {});
  assert.equal(read("43", { number: 77n }), 77n);
  assert.equal(read("42", { time: 99n }), 99n);
  assert.equal(read("45", { gasLimit: 5n }), 5n);
  assert.equal(read("41", { feeRecipient: bob }), BigInt(bob));
  assert.equal(read("44", { prevRandao: hashFromBigint(3n) }), 3n);
  assert.equal(read("4a", { blobBaseFee: 8n }), 8n);
});

test("block overrides keep BLOCKHASH on the real chain", () => {
  const number = { blockOverrides: { number: 5n } };
  assert.equal(runNumber(`0x5f40${RETURN_TOP}`, {}, number), 0n);
});

test("block overrides that only simulation knows are refused", () => {
  assert.throws(() => run("0x", {}, { blockOverrides: { beaconRoot: hashFromBigint(1n) } }), {
    code: "CALL_INVALID_BLOCK_OVERRIDES",
    message: 'block override "beaconRoot" is not supported for this RPC method',
  });
});

test("call with a replaced storage does not read the account's own", () => {
  const { genesis, modules } = testChain(allocWith("0x", [[contract, ownStorage()]]));
  const { header, blockHash } = genesis;
  const { state, reads } = countingReads(genesis.state);
  const stateOverrides = new Map([[contract, { state: new Map() }]]);
  const returned = call({ to: contract }, { header, state, blockHash }, modules, {
    stateOverrides,
  });
  assert.equal(bytesToBigint(returned), 0n);
  assert.deepEqual(reads, { slots: 0, scans: 0 });
});
