import assert from "node:assert/strict";
import { test } from "node:test";
import { compileAtOnce } from "../../../test/support/evm/machine/compile-at-once.ts";
import { testBlock, testMessage } from "../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import { STATE_GAS } from "../../base/params/gas.ts";
import type { Address } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { hexToBytes } from "../../base/primitives/hex.ts";
import { createWorldState } from "../state/world-state.ts";
import { createEvm } from "./engine.ts";
import type { Evm } from "./evm.ts";

const contract = `0x${"cc".repeat(20)}` as Address;
const callee = `0x${"dd".repeat(20)}` as Address;
const GAS = 1_000_000n;
const evm = createEvm();

type Execution = { code: string; calleeCode?: string; reservoir?: bigint; engine?: Evm };

/** @property gasUsed of the gas for execution, with what was spilled; @property stateUsed of both */
function run({ code, calleeCode = "", reservoir = 0n, engine = evm }: Execution) {
  const state = createWorldState(createMemoryState());
  const put = (text: string) => state.putCode(hexToBytes(`0x${text.replaceAll(" ", "")}`));
  state.setAccount(contract, { nonce: 1n, balance: 100n, codeHash: put(code) });
  state.setAccount(callee, { nonce: 1n, balance: 100n, codeHash: put(calleeCode) });
  const message = testMessage({ to: contract, gas: GAS, reservoir });
  const { outcome, gasLeft, reservoirLeft, spilled, gasRefund, logs } = engine.execute(
    message,
    testBlock({ hardfork: "amsterdam" }),
    state,
  );
  const stateUsed = reservoir - reservoirLeft! + spilled!;
  return { outcome, gasUsed: GAS - gasLeft, reservoirLeft, spilled, stateUsed, gasRefund, logs };
}

/** SSTORE of 1 to slot 0: two pushes, a cold access, and the first write. */
const SET = "6001 5f 55";
const SET_GAS = 3n + 2n + 2_100n + 10_000n;
/** CALL of the callee with `value` and all gas; its answer is dropped. */
const callOf = (value: string, to: string = callee) => `5f5f5f5f 60${value} 73${to.slice(2)} 5a f1 50`;

test("a new slot is paid out of the reservoir, and what is missing out of the frame (EIP-8037)", () => {
  const full = run({ code: SET, reservoir: STATE_GAS.slot + 7n });
  assert.deepEqual([full.gasUsed, full.reservoirLeft, full.spilled], [SET_GAS, 7n, 0n]);
  const part = run({ code: SET, reservoir: 7n });
  assert.deepEqual(
    [part.gasUsed, part.reservoirLeft, part.spilled],
    [SET_GAS + STATE_GAS.slot - 7n, 0n, STATE_GAS.slot - 7n],
  );
  assert.equal(part.stateUsed, STATE_GAS.slot);
});

test("a slot that is 0 again gives back what it cost, first to the frame that lent it", () => {
  const { gasUsed, reservoirLeft, stateUsed, gasRefund } = run({ code: `${SET} 5f 5f 55`, reservoir: 7n });
  assert.deepEqual([gasUsed, reservoirLeft, stateUsed], [SET_GAS + 4n + 100n, 7n, 0n]);
  assert.equal(gasRefund, 10_000n);
});

test("a slot that the callee of a call clears is given back to the caller that lent its gas", () => {
  // DELEGATECALL: both run on the slots of the contract.
  const code = `${SET} 5f5f5f5f 73${callee.slice(2)} 5a f4 50`;
  const { stateUsed, reservoirLeft, spilled } = run({ code, calleeCode: "5f 5f 55" });
  assert.deepEqual([stateUsed, reservoirLeft, spilled], [0n, 0n, 0n]);
});

test("SSTORE needs more gas than a stipend, however much is in the reservoir (EIP-2200)", () => {
  // The slot is warm and stays 0. DELEGATECALL with `left` gas for SSTORE; what a callee that halts had is used.
  const gasUsed = (left: bigint, reservoir: bigint, engine = evm) => {
    const gas = (left + 4n).toString(16).padStart(4, "0");
    const code = `5f 54 50 5f5f5f5f 73${callee.slice(2)} 61${gas} f4 50`;
    return run({ code, calleeCode: "5f 5f 55", reservoir, engine }).gasUsed;
  };
  for (const engine of [evm, createEvm({ tier: compileAtOnce() })]) {
    for (const reservoir of [0n, 1n, STATE_GAS.slot]) {
      const passed = gasUsed(2_301n, reservoir, engine);
      assert.equal(gasUsed(2_300n, reservoir, engine) - passed, 2_300n - 100n, `${reservoir}`);
      assert.equal(gasUsed(60_000n, reservoir, engine), passed);
    }
  }
});

test("a frame that reverts gives back its state gas, and one that halts burns what it lent", () => {
  const reverted = run({ code: `${SET} 5f 5f fd`, reservoir: 7n });
  assert.deepEqual([reverted.outcome, reverted.gasUsed, reverted.reservoirLeft], ["revert", SET_GAS + 4n, 7n]);
  const halted = run({ code: `${SET} fe`, reservoir: 7n });
  assert.deepEqual([halted.outcome, halted.gasUsed, halted.reservoirLeft, halted.stateUsed], ["halt", GAS, 7n, 0n]);
  const inner = run({ code: callOf("00"), calleeCode: `${SET} 5f 5f fd`, reservoir: STATE_GAS.slot });
  assert.deepEqual([inner.outcome, inner.reservoirLeft, inner.stateUsed], ["success", STATE_GAS.slot, 0n]);
});

test("a call with value to an empty account pays for the account, which a failed call gives back", () => {
  const nobody = "0xee000000000000000000000000000000000000ee";
  const born = run({ code: callOf("01", nobody) });
  assert.equal(born.stateUsed, STATE_GAS.account);
  // With more than the contract has, the call fails.
  const failed = run({ code: callOf("ff", nobody) });
  assert.equal(failed.stateUsed, 0n);
  assert.equal(run({ code: callOf("01") }).stateUsed, 0n);
});

test("a creation pays for its account and each byte of its code; one that fails for nothing", () => {
  // Init code that returns `size` zero bytes: PUSH1 size, PUSH0, RETURN
  const create = (initCode: string) =>
    `6${(initCode.length / 2 - 1).toString(16)}${initCode} 5f 52 60${(initCode.length / 2).toString(16).padStart(2, "0")} 60${(32 - initCode.length / 2).toString(16).padStart(2, "0")} 5f f0`;
  assert.equal(run({ code: create("60035ff3") }).stateUsed, STATE_GAS.account + 3n * STATE_GAS.codeByte);
  assert.equal(run({ code: create("60035ffd") }).stateUsed, 0n);
  assert.equal(run({ code: create("60035ffe") }).stateUsed, 0n);
});

test("a transfer leaves a log of the system account, which goes with the frame (EIP-7708)", () => {
  const sent = run({ code: callOf("01"), calleeCode: "5f5fa0" });
  const topic = (address: string) => `0x${"00".repeat(12)}${address.slice(2)}`;
  assert.deepEqual(
    sent.logs.map(({ address, topics }) => [address, topics.slice(1)]),
    [
      ["0xfffffffffffffffffffffffffffffffffffffffe", [topic(contract), topic(callee)]],
      [callee, []],
    ],
  );
  assert.deepEqual(run({ code: callOf("01"), calleeCode: "5f5ffd" }).logs, []);
  assert.deepEqual(run({ code: callOf("00") }).logs, []);
  assert.deepEqual(run({ code: callOf("01", contract), calleeCode: "" }).logs.length, 0);
});

test("SELFDESTRUCT to itself burns nothing, and to another leaves a log (EIP-8246, EIP-7708)", () => {
  assert.deepEqual(run({ code: "30ff" }).logs, []);
  assert.equal(run({ code: `73${callee.slice(2)}ff` }).logs.length, 1);
});

test("a call of the system account with a reservoir leaves it where nothing grows", () => {
  const state = createWorldState(createMemoryState());
  state.setAccount(contract, { nonce: 1n, balance: 0n, codeHash: state.putCode(EMPTY_BYTES) });
  const message = testMessage({ to: contract, gas: GAS, reservoir: 5n });
  const result = evm.execute(message, testBlock({ hardfork: "amsterdam" }), state);
  assert.deepEqual([result.gasLeft, result.reservoirLeft, result.spilled], [GAS, 5n, 0n]);
});

test("a deadline changes nothing of what a creation costs, whether its gas suffices or not", () => {
  // CREATE with code that returns 4,096 bytes.
  const code = hexToBytes("0x64611000 5ff3 5f52 6005 601b 5f f0 50".replaceAll(" ", ""));
  for (const gas of [200_000n, 400_000n, 1_000_000n, 3_000_000n, 6_300_000n, 8_000_000n]) {
    const [plain, sliced] = [{}, { deadlineMs: Number.MAX_VALUE }].map((options) => {
      const state = createWorldState(createMemoryState());
      state.setAccount(contract, { nonce: 1n, balance: 100n, codeHash: state.putCode(code) });
      const message = testMessage({ to: contract, gas, reservoir: 0n });
      return evm.execute(message, testBlock({ hardfork: "amsterdam" }), state, options);
    });
    assert.deepEqual(sliced, plain, `${gas}`);
  }
});
