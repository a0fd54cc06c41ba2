import assert from "node:assert/strict";
import { test } from "node:test";
import {
  account,
  alice,
  allocWith,
  blockContext,
  bob,
  coinbase,
  contract,
  ETHER,
  evm,
  messageOf,
  stateWith,
} from "../../../../test/support/evm/execution/factories.ts";
import type { GenesisAlloc } from "../../../base/params/genesis-account.ts";
import { checksumAddress } from "../../../base/primitives/address.ts";
import { hashFromBigint } from "../../../base/primitives/hash.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import { signAuthorization } from "../../../base/types/transaction/sign.ts";
import { createAddress } from "../../machine/contract-creation.ts";
import type { BlockContext } from "../../machine/evm.ts";
import { fullGasPool } from "../block-context.ts";
import { applyMessage } from "./apply-message.ts";
import { delegationCode } from "./authorizations.ts";
import type { TransactionMessage } from "./message.ts";

const slot = hashFromBigint(1n);

function setup(alloc?: GenesisAlloc, overrides?: Partial<BlockContext>) {
  const state = stateWith(alloc);
  const block = blockContext(overrides);
  const gasPool = fullGasPool(30_000_000n, 131_072n);
  const environment = { evm, block, state, gasPool };
  return {
    state,
    gasPool,
    apply: (message: Partial<TransactionMessage> = {}, options = {}) =>
      applyMessage(messageOf(message), environment, options),
  };
}

test("applyMessage takes price times gas from the sender and gives the tip to the coinbase", () => {
  const { state, gasPool, apply } = setup();
  const result = apply({ value: 5n, to: bob });
  assert.equal(result.outcome, "success");
  assert.equal(result.gasUsed, 21_000n);
  assert.equal(state.account(alice)?.balance, 10n * ETHER - 5n - 21_000n * 10n);
  assert.equal(state.account(alice)?.nonce, 1n);
  assert.equal(state.account(bob)?.balance, 5n);
  assert.equal(state.account(coinbase)?.balance, 21_000n * 3n);
  assert.equal(gasPool.gas, 30_000_000n - 21_000n);
});

test("applyMessage pays the coinbase the whole price before London", () => {
  const { state, apply } = setup(undefined, { hardfork: "berlin", baseFeePerGas: 0n });
  apply({ to: bob });
  assert.equal(state.account(coinbase)?.balance, 21_000n * 10n);
});

test("applyMessage removes a coinbase that gets nothing", () => {
  const { state, apply } = setup();
  apply({ to: bob, gasPrice: 7n, maxFeePerGas: 7n, maxPriorityFeePerGas: 0n });
  assert.equal(state.account(coinbase), undefined);
});

test("applyMessage leaves everything as it was when it refuses", () => {
  const { state, gasPool, apply } = setup();
  const before = state.account(alice);
  const address = checksumAddress(alice);
  assert.throws(() => apply({ gasLimit: 20_999n }), {
    code: "TX_INTRINSIC_GAS_TOO_LOW",
    message: "intrinsic gas too low: have 20999, want 21000",
  });
  assert.throws(() => apply({ value: 10n * ETHER }), {
    code: "TX_INSUFFICIENT_ACCOUNT_FUNDS",
    message: `insufficient funds for gas * price + value: address ${address} have ${10n * ETHER} want ${10n * ETHER + 1_000_000n}`,
  });
  assert.throws(() => apply({ maxFeePerGas: 2n ** 250n }), {
    code: "TX_GASLIMIT_PRICE_PRODUCT_OVERFLOW",
    message: `insufficient funds for gas * price + value: address ${address} required balance exceeds 256 bits`,
  });
  assert.deepEqual(state.account(alice), before);
  assert.deepEqual(gasPool, fullGasPool(30_000_000n, 131_072n));
});

test("applyMessage refuses what the block has no room for", () => {
  const { gasPool, apply } = setup();
  gasPool.gas = 99_999n;
  assert.throws(() => apply(), { code: "TX_GAS_ALLOWANCE_EXCEEDED", message: "gas limit reached" });
  gasPool.gas = 100_000n;
  const blobVersionedHashes = [`0x01${"00".repeat(31)}`, `0x01${"11".repeat(31)}`] as never;
  assert.throws(() => apply({ blobVersionedHashes, maxFeePerBlobGas: 1n }), {
    code: "TX_TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED",
  });
});

test("applyMessage rejects init code beyond EIP-3860's limit, before the gas it takes", () => {
  const { apply } = setup();
  const creation = { to: null, data: new Uint8Array(49_153) };
  for (const gasLimit of [53_000n, 1_000_000n]) {
    assert.throws(() => apply({ ...creation, gasLimit }), { code: "TX_INITCODE_SIZE_EXCEEDED" });
  }
});

test("applyMessage charges nothing for blobs that a call names before Cancun", () => {
  const { state, gasPool, apply } = setup(undefined, { hardfork: "shanghai", blobBaseFee: 2n });
  const blobVersionedHashes = [`0x01${"00".repeat(31)}`, `0x01${"11".repeat(31)}`] as never;
  apply({ to: bob, blobVersionedHashes, maxFeePerBlobGas: ETHER });
  assert.equal(state.account(alice)?.balance, 10n * ETHER - 21_000n * 10n);
  assert.equal(gasPool.blobGas, 131_072n);
});

test("applyMessage charges and burns blob gas (EIP-4844)", () => {
  const { state, gasPool, apply } = setup(undefined, { blobBaseFee: 2n });
  const blobVersionedHashes = [`0x01${"00".repeat(31)}`] as never;
  apply({ to: bob, blobVersionedHashes, maxFeePerBlobGas: 5n });
  const spent = 21_000n * 10n + 131_072n * 2n;
  assert.equal(state.account(alice)?.balance, 10n * ETHER - spent);
  assert.equal(gasPool.blobGas, 0n);
});

test("applyMessage refunds at most a fifth of the gas used, half before London (EIP-3529)", () => {
  // Clears slot 1; the refund for it is 4800, or 15000 before London.
  const alloc = () => {
    const storage = new Map([[slot, 1n]]);
    return allocWith("0x", [[contract, { ...account({ code: "0x5f600155", nonce: 1n }), storage }]]);
  };
  const osaka = setup(alloc()).apply();
  assert.equal(osaka.maxUsedGas, 21_000n + 2n + 3n + 5_000n);
  assert.equal(osaka.gasUsed, osaka.maxUsedGas - 4_800n);
  const berlin = setup(alloc(), { hardfork: "berlin", baseFeePerGas: 0n }).apply();
  // PUSH0 does not exist in Berlin: the call halts and nothing is refunded.
  assert.equal(berlin.gasUsed, 100_000n);
});

test("applyMessage charges at least the floor for calldata (EIP-7623)", () => {
  const data = new Uint8Array(1_000).fill(1);
  const { apply } = setup();
  const result = apply({ to: bob, data });
  assert.equal(result.gasUsed, 21_000n + 40n * 1_000n);
  assert.equal(result.maxUsedGas, result.gasUsed);
  const before = setup(undefined, { hardfork: "cancun" }).apply({ to: bob, data });
  assert.equal(before.gasUsed, 21_000n + 16n * 1_000n);
  assert.throws(() => setup().apply({ to: bob, data, gasLimit: 50_000n }), {
    code: "TX_INTRINSIC_GAS_BELOW_FLOOR_GAS_COST",
    message: "insufficient gas for floor data gas cost: have 50000, want 61000",
  });
});

test("applyMessage keeps nonce and payment of a transaction that reverts or halts", () => {
  const reverting = setup(allocWith("0x60015f5360015ffd"));
  const reverted = reverting.apply();
  assert.equal(reverted.outcome, "revert");
  assert.deepEqual(reverted.returnData, hexToBytes("0x01"));
  assert.equal(reverting.state.account(alice)?.nonce, 1n);
  const halting = setup(allocWith("0xfe"));
  const halted = halting.apply();
  assert.deepEqual(halted.halt, { kind: "invalidOpcode", opcode: 0xfe });
  assert.equal(halted.gasUsed, 100_000n);
  assert.equal(halting.state.account(alice)?.balance, 10n * ETHER - 1_000_000n);
});

test("applyMessage creates a contract at the address of sender and nonce", () => {
  const { state, apply } = setup();
  const result = apply({ to: null, data: hexToBytes("0x60015ff3") });
  const created = createAddress(alice, 0n);
  assert.equal(result.contractAddress, created);
  assert.equal(state.account(created)?.nonce, 1n);
  assert.equal(setup().apply().contractAddress, null);
});

test("applyMessage warms what the access list names (EIP-2930)", () => {
  const alloc = () => allocWith("0x60015450");
  const cold = setup(alloc()).apply();
  const warm = setup(alloc()).apply({ accessList: [{ address: contract, storageKeys: [slot] }] });
  assert.equal(cold.gasUsed, 21_000n + 3n + 2_100n + 2n);
  assert.equal(warm.gasUsed, 21_000n + 2_400n + 1_900n + 3n + 100n + 2n);
});

test("applyMessage applies authorizations, also when the call reverts (EIP-7702)", () => {
  const key = new Uint8Array(32).fill(2);
  const signed = signAuthorization({ chainId: 1n, address: contract, nonce: 0n }, key);
  const { state, apply } = setup(allocWith("0x5f5ffd"));
  const result = apply({ authorizationList: [signed] });
  assert.equal(result.outcome, "revert");
  const authority = [...state.changes().accounts].find(
    ({ account: changed }) => changed !== null && changed.nonce === 1n && changed.balance === 0n,
  );
  assert.ok(authority?.account);
  assert.deepEqual(state.code(authority.account.codeHash), delegationCode(contract));
  assert.equal(result.gasUsed, 21_000n + 25_000n + 4n);
});

test("applyMessage refunds half of an authorization whose account exists (EIP-7702)", () => {
  // Alice sends and authorizes: her nonce is 1 when the authorization is looked at.
  const key = new Uint8Array(32).fill(1);
  const signed = signAuthorization({ chainId: 0n, address: contract, nonce: 1n }, key);
  const { state, apply } = setup();
  const result = apply({ to: bob, authorizationList: [signed] });
  assert.equal(result.maxUsedGas, 46_000n);
  assert.equal(result.gasUsed, 46_000n - 46_000n / 5n);
  assert.equal(state.account(alice)?.nonce, 2n);
});

test("applyMessage skips an authorization for another chain, nonce or signer", () => {
  const key = new Uint8Array(32).fill(2);
  const good = signAuthorization({ chainId: 1n, address: contract, nonce: 0n }, key);
  const otherChain = signAuthorization({ chainId: 2n, address: contract, nonce: 0n }, key);
  const otherNonce = signAuthorization({ chainId: 1n, address: contract, nonce: 7n }, key);
  const highS = { ...good, s: 2n ** 256n - 1n };
  const { state, apply } = setup();
  apply({ to: bob, gasLimit: 200_000n, authorizationList: [otherChain, otherNonce, highS] });
  const codes = state.changes().codes;
  assert.equal(codes.size, 0);
});

test("applyMessage does not touch the coinbase in a call without a price", () => {
  const { state, apply } = setup();
  const free = { gasPrice: 0n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  const checks = { skipNonce: true, skipTransactionChecks: true, noBaseFee: true };
  apply({ ...free, to: bob }, { checks });
  assert.equal(state.account(coinbase), undefined);
  assert.equal(state.account(alice)?.balance, 10n * ETHER);
});
