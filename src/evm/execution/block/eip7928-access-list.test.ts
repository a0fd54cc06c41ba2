import assert from "node:assert/strict";
import { test } from "node:test";
import {
  account,
  alice,
  allocWith,
  bob,
  coinbase,
  config,
  contract,
  testChain,
  transactionOf,
} from "../../../../test/support/evm/execution/factories.ts";
import { BEACON_ROOTS_ADDRESS, HISTORY_STORAGE_ADDRESS, REQUEST_CONTRACTS } from "../../../base/params/gas.ts";
import type { GenesisAlloc } from "../../../base/params/genesis-account.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { hashFromBigint } from "../../../base/primitives/hash.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import { type AccountAccess, decodeBlockAccessList } from "../../../base/types/block-access-list.ts";
import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import { createEvm } from "../../machine/engine.ts";
import { validateHeader } from "../validation/validate-header.ts";
import { createBlockBuilder, type PayloadAttributes } from "./build-block.ts";
import { executeBlock } from "./execute-block.ts";

const engine = createEvm();
const amsterdam = { ...config, amsterdamTime: 0 };
const carol = `0x${"ca".repeat(20)}` as Address;
const slot = (n: bigint) => hashFromBigint(n);
const wordOf = (n: number) => hexToBytes(hashFromBigint(BigInt(n)));

function build(
  transactions: readonly Transaction[],
  { alloc, attributes }: { alloc?: GenesisAlloc; attributes?: Partial<PayloadAttributes> } = {},
) {
  const { genesis, modules } = testChain(alloc ?? allocWith(), amsterdam, engine);
  const begin = () =>
    createBlockBuilder(
      genesis,
      { timestamp: 1_012, feeRecipient: coinbase, gasLimit: 30_000_000n, ...attributes },
      modules,
    );
  const builder = begin();
  const results = transactions.map((tx) => builder.add(tx));
  const sealed = builder.seal();
  const accessList = decodeBlockAccessList(sealed.accessList!);
  const list = new Map(accessList.map((access) => [access.address, access]));
  return { genesis, modules, begin, results, sealed, accessList, list };
}

const changed = (access: AccountAccess | undefined) =>
  access && {
    balances: access.balanceChanges.map(({ index }) => index),
    nonces: access.nonceChanges.map(({ index, value }) => [index, value]),
    slots: access.storageChanges.map(({ slot: key, changes }) => [BigInt(key), changes.map(({ value }) => value)]),
    reads: access.storageReads.map(BigInt),
  };

test("an empty block lists what its system calls look at", () => {
  const { accessList } = build([]);
  const queues = REQUEST_CONTRACTS.map(({ address }) => address);
  const expected = [BEACON_ROOTS_ADDRESS, HISTORY_STORAGE_ADDRESS, ...queues].sort();
  assert.deepEqual(
    accessList.map(({ address }) => address),
    expected,
  );
});

test("a transfer lists sender, recipient and coinbase, with values after its index", () => {
  const transfer = transactionOf({ gasLimit: 300_000n });
  const { list, results, sealed } = build([transfer, transactionOf({ nonce: 1n, gasLimit: 300_000n })]);
  assert.deepEqual(changed(list.get(alice)), {
    balances: [1, 2],
    nonces: [
      [1, 1n],
      [2, 2n],
    ],
    slots: [],
    reads: [],
  });
  assert.deepEqual(list.get(bob)!.balanceChanges, [
    { index: 1, value: 1n },
    { index: 2, value: 2n },
  ]);
  assert.deepEqual(changed(list.get(coinbase))!.balances, [1, 2]);
  // The first creates the account of the recipient: 21,000 and the state gas of an account (EIP-2780, EIP-8037).
  assert.deepEqual(
    results.map(({ result }) => result.gasUsed),
    [204_600n, 21_000n],
  );
  assert.deepEqual(
    results.map(({ receipt }) => receipt.cumulativeGasUsed),
    [204_600n, 225_600n],
  );
  assert.equal(sealed.executed.block.header.gasUsed, 183_600n);
});

test("a slot that is written and read again in the block is a change, one written with its value a read", () => {
  // SSTORE of the calldata to slot 0, SLOAD of slot 1, SSTORE of 5, its value, to slot 2
  const code = "0x5f355f55600154506005600255";
  const alloc = allocWith(code, [[contract, { ...account({ nonce: 1n, code }), storage: new Map([[slot(2n), 5n]]) }]]);
  const call = (nonce: bigint, value: number) =>
    transactionOf({ nonce, to: contract, value: 0n, gasLimit: 300_000n, data: wordOf(value) });
  const { list } = build([call(0n, 7), call(1n, 7), call(2n, 0)], { alloc });
  assert.deepEqual(changed(list.get(contract)), { balances: [], nonces: [], slots: [[0n, [7n, 0n]]], reads: [1n, 2n] });
});

test("what a reverted call looked at stays in the list", () => {
  // SLOAD 9, BALANCE of carol, REVERT
  const alloc = allocWith(`0x60095450 73${carol.slice(2)}3150 5f5ffd`.replaceAll(" ", "") as `0x${string}`);
  const { list, results } = build([transactionOf({ to: contract, value: 0n, gasLimit: 100_000n })], { alloc });
  assert.equal(results[0]!.result.outcome, "revert");
  assert.deepEqual(changed(list.get(contract))!.reads, [9n]);
  assert.deepEqual(changed(list.get(carol)), { balances: [], nonces: [], slots: [], reads: [] });
});

test("a transaction that no block can have leaves nothing in the list", () => {
  const { begin } = build([]);
  const builder = begin();
  const stranger = transactionOf({ nonce: 7n, to: carol });
  assert.throws(() => builder.add(stranger), { code: "TX_NONCE_MISMATCH_TOO_HIGH" });
  const listed = decodeBlockAccessList(builder.seal().accessList!).map(({ address }) => address);
  assert.ok(!listed.includes(carol) && !listed.includes(alice));
});

test("withdrawals belong to the last index, also those of nothing", () => {
  const withdrawals = [
    { index: 0n, validatorIndex: 0n, address: carol, amount: 3n },
    { index: 1n, validatorIndex: 0n, address: bob, amount: 0n },
  ];
  const { list } = build([transactionOf({ gasLimit: 300_000n, to: contract })], { attributes: { withdrawals } });
  assert.deepEqual(list.get(carol)!.balanceChanges, [{ index: 2, value: 3_000_000_000n }]);
  assert.deepEqual(changed(list.get(bob)), { balances: [], nonces: [], slots: [], reads: [] });
});

test("a transaction for whose accounts the list has no room is left out, and the block is valid without it", () => {
  // BALANCE of as many addresses as the calldata says: JUMPDEST, DUP1, BALANCE, POP, one less, JUMPI
  const { genesis, modules } = testChain(allocWith("0x5f355b803150600190038060025700"), amsterdam, engine);
  const gasLimit = 1_000_000n;
  const parent = { ...genesis, header: { ...genesis.header, gasLimit } };
  const builder = createBlockBuilder(parent, { timestamp: 1_012, feeRecipient: coinbase, gasLimit }, modules);
  const balances = (nonce: bigint, count: number) =>
    transactionOf({ nonce, to: contract, value: 0n, gasLimit: 950_000n, data: wordOf(count) });
  assert.throws(() => builder.add(balances(0n, 300)), { code: "TX_GAS_ALLOWANCE_EXCEEDED" });
  builder.add(balances(0n, 10));
  const { executed } = builder.seal();
  assert.equal(executed.block.transactions.length, 1);
  assert.doesNotThrow(() => executeBlock(executed.block, parent, modules));
});

test("a block is rejected whose header names another access list", () => {
  const { genesis, modules, sealed } = build([transactionOf({ gasLimit: 300_000n })]);
  const { block } = sealed.executed;
  assert.doesNotThrow(() => executeBlock(block, genesis, modules));
  const other = { ...block, header: { ...block.header, blockAccessListHash: slot(1n) } };
  assert.throws(() => executeBlock(other, genesis, modules), { code: "BLOCK_INVALID_BLOCK_ACCESS_LIST" });
});

test("a header has the fields of Amsterdam from then on, and none before", () => {
  const { genesis, sealed } = build([]);
  const { header } = sealed.executed.block;
  assert.equal(header.slotNumber, 1n);
  assert.doesNotThrow(() => validateHeader(header, genesis.header, amsterdam));
  const { slotNumber: _slot, ...withoutSlot } = header;
  const { blockAccessListHash: _hash, ...withoutHash } = header;
  for (const wrong of [withoutSlot, withoutHash]) {
    assert.throws(() => validateHeader(wrong, genesis.header, amsterdam), { code: "BLOCK_INCORRECT_BLOCK_FORMAT" });
  }
  assert.throws(() => validateHeader(header, genesis.header, config), { code: "BLOCK_INCORRECT_BLOCK_FORMAT" });
});
