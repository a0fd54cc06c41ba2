import assert from "node:assert/strict";
import { test } from "node:test";
import {
  account,
  alice,
  allocWith,
  bob,
  contract,
  testChain,
} from "../../../../test/support/evm/execution/factories.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import type { Hex } from "../../../base/primitives/hex.ts";
import { type CallArgumentsBundle, callMany } from "./call-many.ts";

/** Raises slot 0 by one and returns it. */
const COUNTER: Hex = "0x5f54600101805f555f5260205ff3";

function run(bundles: readonly CallArgumentsBundle[], code: Hex = COUNTER) {
  const { genesis, modules } = testChain(allocWith("0x", [[contract, account({ code })]]));
  const { header, state, blockHash } = genesis;
  const outcomes = callMany(bundles, { header, state, blockHash }, modules, {});
  return outcomes.map((bundle) => bundle.map((each) => ("value" in each ? bytesToBigint(each.value) : each.error)));
}

test("callMany lets each call see what the ones before did, also across bundles", () => {
  const count = { to: contract };
  assert.deepEqual(run([{ calls: [count, count] }, { calls: [count] }]), [[1n, 2n], [3n]]);
});

test("callMany goes one block on with each bundle", () => {
  const numberAndTime: Hex = "0x43421760005260206000f3".replace("17", "03") as Hex;
  const call = { calls: [{ to: contract }] };
  const [[first], [second], [named]] = run(
    [call, call, { ...call, blockOverrides: { number: 1_000n, time: 5_000n } }],
    numberAndTime,
  ) as [[bigint], [bigint], [bigint]];
  // time − number grows by 12 − 1 from one block to the next
  assert.equal(second - first, 11n);
  assert.equal(named, 4_000n);
});

test("callMany tells of a failed call and goes on", () => {
  const [[failed, paid]] = run([{ calls: [{ from: bob, to: alice, value: 1n }, { to: contract }] }], COUNTER) as [
    [string, bigint],
  ];
  assert.match(failed, /insufficient funds/);
  assert.equal(paid, 1n);
});

test("callMany runs no call after its time, also where no call has code", () => {
  const { genesis, modules } = testChain(allocWith("0x", []));
  const { header, blockHash } = genesis;
  let reads = 0;
  const state = {
    ...genesis.state,
    account(address: Address) {
      reads++;
      return genesis.state.account(address);
    },
  };
  const bundles = [{ calls: Array.from({ length: 10_000 }, () => ({ to: bob })) }];
  const options = { timeoutMs: Number.MIN_VALUE };
  assert.throws(() => callMany(bundles, { header, state, blockHash }, modules, options), { code: "EXECUTION_TIMEOUT" });
  assert.ok(reads < 100, `${reads} accounts were read`);
});
