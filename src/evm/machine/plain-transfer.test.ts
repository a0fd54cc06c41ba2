import assert from "node:assert/strict";
import { test } from "node:test";
import { testBlock, testMessage } from "../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import fc from "../../../test/support/fast-check.ts";
import { HARDFORKS, type Hardfork } from "../../base/params/hardforks.ts";
import type { Address } from "../../base/primitives/address.ts";
import { createWorldState } from "../state/world-state.ts";
import { createEvm } from "./engine.ts";
import type { ExecuteOptions } from "./evm.ts";
import { plainTransfer } from "./plain-transfer.ts";

const evm = createEvm();

const CALLER = `0x${"aa".repeat(20)}` as Address;
const WEALTHY = `0x${"bb".repeat(20)}` as Address;
const CONTRACT = `0x${"cc".repeat(20)}` as Address;
const EMPTY = `0x${"dd".repeat(20)}` as Address;
const ABSENT = `0x${"ee".repeat(20)}` as Address;
const SHA256 = `0x${"00".repeat(19)}02` as Address;
const RIPEMD160 = `0x${"00".repeat(19)}03` as Address;
const BALANCE = 1_000n;

function stateOf() {
  const of = (balance: bigint, code: readonly number[] = [], nonce = 0n) => ({
    nonce,
    balance,
    code: Uint8Array.from(code),
    storage: new Map(),
  });
  return createWorldState(
    createMemoryState(
      new Map([
        [CALLER, of(BALANCE, [], 3n)],
        [WEALTHY, of(2n ** 256n - 500n)],
        // SELFBALANCE, PUSH0, SSTORE
        [CONTRACT, of(7n, [0x47, 0x5f, 0x55], 1n)],
        [EMPTY, of(0n)],
      ]),
    ),
  );
}

type Call = { readonly hardfork: Hardfork; readonly to: Address; readonly value: bigint; readonly gas: bigint };

/** The result, and what it leaves in the state: also which accounts were touched, since empty ones are deleted. */
function outcomeOf({ hardfork, to, value, gas }: Call, options: ExecuteOptions) {
  const state = stateOf();
  const message = testMessage({ to, caller: CALLER, value, gas, data: Uint8Array.of(1) });
  const result = evm.execute(message, testBlock({ hardfork }), state, options);
  const reader = state.asReader();
  const accounts = [CALLER, WEALTHY, CONTRACT, EMPTY, ABSENT].map((address) => reader.account(address));
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: true });
  return { result, accounts, changes: state.changes() };
}

const call: fc.Arbitrary<Call> = fc.record({
  hardfork: fc.constantFrom(...HARDFORKS),
  to: fc.constantFrom(CALLER, WEALTHY, CONTRACT, EMPTY, ABSENT, SHA256, RIPEMD160),
  value: fc.oneof(fc.constantFrom(0n, 1n, 499n, 500n, BALANCE, BALANCE + 1n), fc.bigInt(0n, 2n ** 256n - 1n)),
  gas: fc.oneof(fc.constantFrom(0n, 2n ** 63n, 2n ** 64n), fc.bigInt(0n, 100_000n)),
});

test("plainTransfer has the result and the state of the execution by the interpreter", () => {
  fc.assert(
    fc.property(call, (of) => {
      // A tracer without hooks sees nothing, and is executed for.
      assert.deepEqual(outcomeOf(of, {}), outcomeOf(of, { tracer: {} }));
    }),
    { numRuns: 1_000 },
  );
});

test("plainTransfer leaves to the interpreter what is more than a transfer that succeeds", () => {
  const resultOf = (to: Address | null, value: bigint, hardfork: Hardfork, options: ExecuteOptions = {}) =>
    plainTransfer(testMessage({ to, caller: CALLER, value }), testBlock({ hardfork }), stateOf(), options);
  assert.equal(resultOf(ABSENT, 1n, "osaka")?.outcome, "success");
  for (const hardfork of ["tangerineWhistle", "amsterdam"] as const)
    assert.equal(resultOf(ABSENT, 1n, hardfork), undefined);
  for (const to of [null, CONTRACT, SHA256]) assert.equal(resultOf(to, 1n, "osaka"), undefined);
  for (const options of [{ tracer: {} }, { onAccess: () => {} }]) {
    assert.equal(resultOf(ABSENT, 1n, "osaka", options), undefined);
  }
  assert.equal(resultOf(ABSENT, BALANCE + 1n, "osaka"), undefined);
  assert.equal(resultOf(WEALTHY, 500n, "osaka"), undefined);
  // Overrides of a call can take a precompile away.
  assert.equal(resultOf(SHA256, 1n, "osaka", { precompiles: new Map() })?.outcome, "success");
});
