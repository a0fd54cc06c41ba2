import assert from "node:assert/strict";
import { test } from "node:test";
import {
  account,
  alice,
  allocWith,
  bob,
  contract,
  ETHER,
  stateWith,
} from "../../../../test/support/evm/execution/factories.ts";
import { testBlock, testMessage } from "../../../../test/support/evm/machine/environment.ts";
import { type Hash, hashFromBigint, ZERO_HASH } from "../../../base/primitives/hash.ts";
import type { Hex } from "../../../base/primitives/hex.ts";
import { createEvm } from "../../machine/engine.ts";
import type { BlockContext, Evm, ExecutionResult, Message } from "../../machine/evm.ts";
import { ExecutionRecorder } from "./execution-recorder.ts";
import { RecordedExecution } from "./recorded-execution.ts";

const engine = createEvm();
const block = testBlock({ hardfork: "prague" });

function messageTo(overrides: Partial<Message> = {}): Message {
  return testMessage({ caller: alice, origin: alice, to: contract, gas: 200_000n, ...overrides });
}

type Setting = {
  readonly message?: Message;
  readonly block?: BlockContext;
  change?(state: ReturnType<typeof stateWith>): void;
};

/** Records the message on `code` as it is, and applies what was recorded after `later` has changed something; compares with an execution then. */
function apply(code: Hex, later: Setting = {}, message = messageTo()) {
  const alloc = allocWith(code, [[bob, account({ balance: 5n })]]);
  const recorder = new ExecutionRecorder(engine);
  const before = stateWith(alloc);
  recorder.record(ZERO_HASH, () => void recorder.execute(message, block, before));
  const batch = structuredClone(recorder.take());
  const run = (evm: Evm) => {
    const state = stateWith(alloc);
    later.change?.(state);
    const result = evm.execute(later.message ?? message, later.block ?? block, state);
    return { result, changes: state.changes() };
  };
  const counts = { applied: 0, conflicts: 0 };
  const applied = run(new RecordedExecution(batch, batch.starts[0]!, engine, counts));
  const executed = run(engine);
  assert.deepEqual(applied, executed);
  return { isApplied: counts.applied === 1, result: applied.result };
}

/** SLOAD 0 + 1 to slot 0, and LOG1 of 32 bytes. */
const COUNT = "0x5f546001015f5560ff60205fa1";
/** Balance of the account in the code to slot 0. */
const balanceOf = (address: string): Hex => `0x73${address.slice(2)}315f55`;

test("a recorded execution is applied with writes, logs, gas and refund", () => {
  const { isApplied, result } = apply(COUNT);
  assert.ok(isApplied);
  assert.equal(result.logs.length, 1);
  const reverted: ExecutionResult = apply("0x60015f5560205ffd").result;
  assert.deepEqual([reverted.outcome, reverted.returnData.length], ["revert", 32]);
  assert.deepEqual(apply("0xfe").result.halt, { kind: "invalidOpcode", opcode: 0xfe });
});

test("a slot, a balance, a nonce or a code that was read and is another one by now is a conflict", () => {
  const set = (slot: Hash) => ({
    change: (state: ReturnType<typeof stateWith>) => state.setStorage(contract, slot, 7n),
  });
  assert.equal(apply(COUNT, set(ZERO_HASH)).isApplied, false);
  assert.equal(apply(COUNT, set(hashFromBigint(1n))).isApplied, true);
  const richer = {
    change: (state: ReturnType<typeof stateWith>) => state.setAccount(bob, { ...state.account(bob)!, balance: 6n }),
  };
  assert.equal(apply(balanceOf(bob), richer).isApplied, false);
  assert.equal(apply(COUNT, richer).isApplied, true);
  assert.equal(apply(balanceOf(bob), { change: (state) => state.deleteAccount(bob) }).isApplied, false);
});

test("the caller's money and nonce may be others where the code does not ask, and its value is taken off what is there", () => {
  const spent = {
    change: (state: ReturnType<typeof stateWith>) => {
      const { codeHash } = state.account(alice)!;
      state.setAccount(alice, { nonce: 9n, balance: ETHER, codeHash });
    },
  };
  const paid = messageTo({ value: 1_000n });
  assert.equal(apply(COUNT, spent, paid).isApplied, true);
  assert.equal(apply(balanceOf(alice), spent, paid).isApplied, false);
  // ORIGIN BALANCE, and a call that pays the caller.
  assert.equal(apply("0x32315f55", spent, paid).isApplied, false);
  assert.equal(apply("0x5f5f5f5f6001335af1", spent, paid).isApplied, false);
  assert.equal(apply(COUNT, spent, messageTo({ to: alice, value: 1n })).isApplied, false);
});

test("another message or another block is a conflict", () => {
  for (const overrides of [
    { gas: 199_999n },
    { gasPrice: 77n },
    { value: 1n },
    { to: bob },
    { warmAddresses: [bob] },
  ]) {
    assert.equal(apply(COUNT, { message: messageTo(overrides) }).isApplied, false, Object.keys(overrides)[0]);
  }
  const others: Partial<BlockContext>[] = [
    { hardfork: "cancun" },
    { timestamp: block.timestamp + 1 },
    { number: block.number + 1 },
    { coinbase: bob },
    { gasLimit: 1n },
    { prevRandao: hashFromBigint(1n) },
    { baseFeePerGas: 99n },
    { blobBaseFee: 99n },
    { chainId: 99n },
    { codeSizeMax: 99 },
  ];
  for (const fields of others) {
    assert.equal(apply(COUNT, { block: { ...block, ...fields } }).isApplied, false, Object.keys(fields)[0]);
  }
});

test("a creation and a self-destruct are applied like all else", () => {
  const created = "0x00000000000000000000000000000000000c0de0" as const;
  const init = messageTo({
    to: null,
    createAddress: created as never,
    data: Uint8Array.from(Buffer.from("600160005360016000f3", "hex")),
  });
  assert.ok(apply("0x", {}, init).isApplied);
  assert.ok(apply(`0x73${bob.slice(2)}ff`).isApplied);
});
