import assert from "node:assert/strict";
import { test } from "node:test";
import {
  alice,
  allocWith,
  bob,
  contract,
  ETHER,
  GWEI,
  testChain,
} from "../../../../test/support/evm/execution/factories.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { hashFromBigint } from "../../../base/primitives/hash.ts";
import type { Hex } from "../../../base/primitives/hex.ts";
import { delegationCode } from "../transaction/authorizations.ts";
import type { CallArguments } from "./call-arguments.ts";
import { type AccessListOptions, createAccessList } from "./create-access-list.ts";

const identity = `0x${"04".padStart(40, "0")}` as Address;
const slot = hashFromBigint(1n);

function create(code: Hex, args: CallArguments = {}, options: Partial<AccessListOptions> = {}) {
  const { genesis, modules } = testChain(allocWith(code));
  const full = { suggestTip: () => GWEI, ...options };
  return createAccessList({ from: alice, to: contract, ...args }, genesis, modules, full);
}

const balanceOf = (address: Address) => `73${address.slice(2)}3150`;

test("createAccessList names slots of the target and other accounts, sorted", () => {
  const { accessList, gasUsed, error } = create(`0x${balanceOf(bob)}600154506002545f5f`);
  assert.deepEqual(accessList, [
    { address: bob, storageKeys: [] },
    { address: contract, storageKeys: [slot, hashFromBigint(2n)] },
  ]);
  assert.equal(error, undefined);
  const list = 2n * 2_400n + 2n * 1_900n;
  const code = 3n + 100n + 2n + 3n + 100n + 2n + 3n + 100n + 4n;
  assert.equal(gasUsed, 21_000n + list + code);
});

test("createAccessList leaves out what is warm anyway", () => {
  const code = `0x${[alice, contract, identity].map(balanceOf).join("")}` as Hex;
  assert.deepEqual(create(code).accessList, []);
});

test("createAccessList leaves out what is warm anyway of the list it is given, slots too", () => {
  const accessList = [alice, contract, identity].map((address) => ({ address, storageKeys: [slot] }));
  assert.deepEqual(create("0x5f", { accessList }).accessList, []);
});

test("createAccessList keeps the list it is given", () => {
  const accessList = [{ address: bob, storageKeys: [slot] }];
  assert.deepEqual(create("0x5f", { accessList }).accessList, accessList);
});

test("createAccessList does not take the byte that a failed jump leads to for an opcode", () => {
  for (const byte of ["31", "3b", "3c", "3f", "54", "55", "f1", "f2", "f4", "fa", "ff"]) {
    const jump = `0x602056${"00".repeat(29)}${byte}` as Hex;
    assert.deepEqual(create(jump).accessList, [], byte);
    const jumpIf = `0x6001602057${"00".repeat(27)}${byte}` as Hex;
    assert.deepEqual(create(jumpIf).accessList, [], byte);
  }
});

test("createAccessList tells a failing call's reason beside the list", () => {
  const { accessList, error } = create("0x600154505f5ffd");
  assert.deepEqual(accessList, [{ address: contract, storageKeys: [slot] }]);
  assert.equal(error, "execution reverted");
});

test("createAccessList costs a call without any fee nothing, and one with a part of it what a wallet would offer", () => {
  const message = /^failed to apply transaction: 0x[0-9a-f]{64} err: insufficient funds for gas/;
  assert.equal(create("0x600154", { from: bob }).error, undefined);
  assert.throws(() => create("0x", { from: bob, maxPriorityFeePerGas: 1n }), { code: "CALL_REFUSED", message });
  assert.throws(() => create("0x", { gasPrice: 0n }), {
    message: "gasPrice must be non-zero after london fork",
  });
});

test("createAccessList is aborted after its time, between runs and while it recovers authorities", () => {
  assert.throws(() => create("0x600154", {}, { timeoutMs: 0 }), { code: "EXECUTION_TIMEOUT" });
  const authorization = { chainId: 1n, address: bob, nonce: 0n, yParity: 0n, r: 1n, s: 1n };
  const authorizationList = Array.from({ length: 100 }, () => ({ ...authorization }));
  assert.throws(() => create("0x", { authorizationList }, { timeoutMs: 0 }), { code: "EXECUTION_TIMEOUT" });
  assert.deepEqual(create("0x", { authorizationList }).accessList, []);
});

test("createAccessList moves no precompiles", () => {
  const stateOverrides = new Map([[identity, { movePrecompileToAddress: bob, balance: ETHER }]]);
  assert.throws(() => create("0x", {}, { stateOverrides }), {
    message: `account ${identity} is not a precompile`,
  });
  // State comes before prices, as in geth.
  assert.throws(() => create("0x", { gasPrice: 0n }, { stateOverrides }), {
    code: "CALL_INVALID_STATE_OVERRIDES",
  });
});

test("createAccessList lists what a failing opcode names, and no target of a delegation", () => {
  // SLOAD of a cold slot without the gas for it
  const starved = create("0x600154", { gas: 25_350n });
  assert.deepEqual(starved.accessList, [{ address: contract, storageKeys: [slot] }]);
  assert.equal(starved.error, "out of gas");
  const target = `0x${"ca11".repeat(10)}` as Address;
  const delegated = `0x${"de1e".repeat(10)}` as Address;
  const stateOverrides = new Map([[delegated, { code: delegationCode(target) }]]);
  const call: Hex = `0x5f5f5f5f5f73${delegated.slice(2)}5af1`;
  assert.deepEqual(create(call, {}, { stateOverrides }).accessList, [{ address: delegated, storageKeys: [] }]);
});

test("createAccessList gives the list with which the call accesses what the list has, however it began", () => {
  // SLOAD of slot 1 where more than 37,000 gas is left, as without the list, else of slot 0
  const { accessList, gasUsed } = create("0x5a6190881054", { gas: 60_000n });
  assert.deepEqual(accessList, [{ address: contract, storageKeys: [hashFromBigint(0n)] }]);
  assert.equal(gasUsed, 21_000n + 2_400n + 1_900n + (2n + 3n + 3n + 100n));
});

test("createAccessList refuses a call of which each list leads to another", () => {
  const unstable = { code: "ACCESS_LIST_UNSTABLE" };
  // With more than 37,000 gas slot 1, else none.
  assert.throws(() => create("0x5a61908810600957005b60015400", { gas: 60_000n }), unstable);
  // With more than 37,000 gas slot 1, with more than 33,600 slots 2 and 1, else none.
  const three = ["5a61908810601657", "5a6183401060115700", "5b60025450", "5b60015400"].join("");
  assert.throws(() => create(`0x${three}`, { gas: 60_000n }), unstable);
});

test("createAccessList charges for jumps, taken or not, what a call charges", () => {
  // PUSH0 PUSH2 JUMPI; PUSH1 PUSH2 JUMPI; JUMPDEST PUSH2 JUMP; JUMPDEST STOP
  const { gasUsed } = create("0x5f61000857600161000b575b610010565b00");
  assert.equal(gasUsed, 21_000n + (2n + 3n + 10n) + (3n + 3n + 10n) + 1n + (3n + 8n) + 1n);
});
