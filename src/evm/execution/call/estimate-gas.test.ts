import assert from "node:assert/strict";
import { test } from "node:test";
import {
  alice,
  allocWith,
  bob,
  config,
  contract,
  ETHER,
  GWEI,
  testChain,
} from "../../../../test/support/evm/execution/factories.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Hex } from "../../../base/primitives/hex.ts";
import type { Evm } from "../../machine/evm.ts";
import type { CallOptions } from "./call.ts";
import type { CallArguments } from "./call-arguments.ts";
import { estimateGas } from "./estimate-gas.ts";

function estimate(code: Hex, args: CallArguments = {}, options: CallOptions = {}): bigint {
  const { genesis, modules } = testChain(allocWith(code));
  return estimateGas({ from: alice, to: contract, ...args }, genesis, modules, options);
}

test("estimateGas of a plain transfer is 21000", () => {
  assert.equal(estimate("0x", { to: bob, value: 1n }), 21_000n);
});

test("estimateGas is enough and at most 1.5 % too much", () => {
  // SSTORE of a new slot
  const gas = estimate("0x602a600155");
  const least = 21_000n + 6n + 22_100n;
  assert.ok(gas >= least && gas * 1000n <= least * 1016n, `${gas}`);
});

test("estimateGas covers what a refund gives back and what a call keeps back", () => {
  // Sets and clears a slot: much is refunded, all of it is needed before.
  const gas = estimate("0x602a6001555f600155");
  assert.ok(gas >= 21_000n + 3n + 3n + 22_100n + 2n + 3n + 100n, `${gas}`);
});

test("estimateGas tells why the call fails at any gas", () => {
  assert.throws(() => estimate("0x5f5ffd"), { code: "EXECUTION_REVERTED" });
  assert.throws(() => estimate("0xfe"), {
    code: "EXECUTION_HALTED",
    message: "invalid opcode: INVALID",
  });
  assert.throws(() => estimate("0x5b5f56", { gas: 60_000n }), {
    code: "ESTIMATE_GAS_EXCEEDS_ALLOWANCE",
    message: "gas required exceeds allowance (60000)",
  });
  assert.throws(() => estimate("0x602a600155", { gas: 30_000n }), {
    message: "gas required exceeds allowance (30000)",
  });
});

test("estimateGas ignores gas below 21000", () => {
  assert.equal(estimate("0x", { gas: 5n }), 21_000n);
});

test("estimateGas counts the price of blobs from Cancun on alone", () => {
  const blobVersionedHashes = [`0x01${"11".repeat(31)}` as Hash];
  const args = { from: alice, to: bob, gasPrice: 2n * GWEI, blobVersionedHashes, maxFeePerBlobGas: ETHER };
  const { cancunTime: _, pragueTime: __, osakaTime: ___, ...shanghai } = config;
  for (const [chainConfig, result] of [
    [shanghai, 21_000n],
    [config, "ESTIMATE_INSUFFICIENT_FUNDS"],
  ] as const) {
    const { genesis, modules } = testChain(allocWith(), chainConfig);
    const run = () => estimateGas(args, genesis, modules);
    if (typeof result === "bigint") assert.equal(run(), result);
    else assert.throws(run, { code: result });
  }
});

test("estimateGas stays within what the sender can pay", () => {
  const gasPrice = ETHER / 2_000n;
  assert.throws(() => estimate("0x602a600155", { gasPrice }), {
    message: "gas required exceeds allowance (20000)",
  });
  assert.throws(() => estimate("0x", { gasPrice: 2n * GWEI, value: 10n * ETHER }), {
    code: "ESTIMATE_INSUFFICIENT_FUNDS",
    message: "insufficient funds for transfer",
  });
});

test("estimateGas refuses what more gas can not mend", () => {
  assert.throws(() => estimate("0x", { value: 11n * ETHER }), {
    code: "CALL_REFUSED",
    message: /^failed with 16777216 gas: insufficient funds for gas \* price \+ value: address /,
  });
  const data = new Uint8Array(1_000).fill(1);
  assert.throws(() => estimate("0x", { data, gas: 50_000n }), {
    message: "failed with 50000 gas: insufficient gas for floor data gas cost: have 50000, want 61000",
  });
});

test("estimateGas does not take a run that was aborted for one with too little gas", () => {
  const { genesis, modules } = testChain(allocWith("0x602a600155"));
  let runs = 0;
  const evm: Evm = {
    execute(...input) {
      const result = modules.evm.execute(...input);
      return ++runs === 1 ? result : { ...result, outcome: "halt", halt: { kind: "timeout" } };
    },
  };
  assert.throws(() => estimateGas({ from: alice, to: contract }, genesis, { ...modules, evm }, { timeoutMs: 50 }), {
    code: "EXECUTION_TIMEOUT",
    message: "execution aborted (timeout = 50ms)",
  });
});

test("estimateGas takes its allowance from the block with its overrides, but for plain transfers", () => {
  const gasLimit = 20_000n;
  assert.throws(() => estimate("0x5b00", {}, { blockOverrides: { gasLimit } }), {
    code: "ESTIMATE_GAS_EXCEEDS_ALLOWANCE",
    message: "gas required exceeds allowance (20000)",
  });
  assert.equal(estimate("0x", {}, { blockOverrides: { gasLimit } }), 21_000n);
});
