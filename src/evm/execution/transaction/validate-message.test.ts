import assert from "node:assert/strict";
import { test } from "node:test";
import {
  account,
  alice,
  allocWith,
  blockContext,
  bob,
  ETHER,
  messageOf,
  stateWith,
} from "../../../../test/support/evm/execution/factories.ts";
import { checksumAddress } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { BlockContext } from "../../machine/evm.ts";
import type { InvalidTransactionCode } from "../errors.ts";
import { delegationCode } from "./authorizations.ts";
import type { TransactionMessage } from "./message.ts";
import { type MessageChecks, validateMessage } from "./validate-message.ts";

const address = checksumAddress(alice);
const blobHash = `0x01${"00".repeat(31)}` as Hash;
const authorization = { chainId: 0n, address: bob, nonce: 0n, yParity: 0n, r: 1n, s: 1n };

type Case = {
  readonly rule: string;
  readonly message?: Partial<TransactionMessage>;
  readonly block?: Partial<BlockContext>;
  readonly code: InvalidTransactionCode;
  readonly text: string;
};

/** Each breaks one rule; the texts are geth's. */
const CASES: readonly Case[] = [
  {
    rule: "a nonce above the account's",
    message: { nonce: 2n },
    code: "TX_NONCE_MISMATCH_TOO_HIGH",
    text: `nonce too high: address ${address}, tx: 2 state: 0`,
  },
  {
    rule: "a gas limit above EIP-7825's cap",
    message: { gasLimit: 16_777_217n },
    code: "TX_GAS_LIMIT_EXCEEDS_MAXIMUM",
    text: "transaction gas limit too high (cap: 16777216, tx: 16777217)",
  },
  {
    rule: "a tip above the fee",
    message: { maxPriorityFeePerGas: 11n },
    code: "TX_PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS",
    text: `max priority fee per gas higher than max fee per gas: address ${address}, maxPriorityFeePerGas: 11, maxFeePerGas: 10`,
  },
  {
    rule: "a fee below the base fee",
    message: { maxFeePerGas: 6n },
    code: "TX_INSUFFICIENT_MAX_FEE_PER_GAS",
    text: `max fee per gas less than block base fee: address ${address}, maxFeePerGas: 6, baseFee: 7`,
  },
  {
    rule: "blobs in a creation",
    message: { to: null, blobVersionedHashes: [blobHash] },
    code: "TX_TYPE_3_TX_CONTRACT_CREATION",
    text: "blob transaction of type create",
  },
  {
    rule: "a blob transaction without blobs",
    message: { blobVersionedHashes: [] },
    code: "TX_TYPE_3_TX_ZERO_BLOBS",
    text: "blob transaction missing blob hashes",
  },
  {
    rule: "more than six blobs",
    message: { blobVersionedHashes: new Array(7).fill(blobHash) },
    code: "TX_TYPE_3_TX_BLOB_COUNT_EXCEEDED",
    text: "blob transaction has too many blobs",
  },
  {
    rule: "a blob hash of another version",
    message: { blobVersionedHashes: [blobHash, `0x02${blobHash.slice(4)}` as Hash] },
    code: "TX_TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH",
    text: "blob 1 has invalid hash version",
  },
  {
    rule: "a blob fee below the block's",
    message: { blobVersionedHashes: [blobHash], maxFeePerBlobGas: 1n },
    block: { blobBaseFee: 2n },
    code: "TX_INSUFFICIENT_MAX_FEE_PER_BLOB_GAS",
    text: `max fee per blob gas less than block blob gas fee: address ${address} blobGasFeeCap: 1, blobBaseFee: 2`,
  },
  {
    rule: "authorizations in a creation",
    message: { to: null, authorizationList: [authorization] },
    code: "TX_TYPE_4_TX_CONTRACT_CREATION",
    text: `EIP-7702 transaction cannot be used to create contract (sender ${address})`,
  },
  {
    rule: "an empty list of authorizations",
    message: { authorizationList: [] },
    code: "TX_TYPE_4_EMPTY_AUTHORIZATION_LIST",
    text: `EIP-7702 transaction with empty auth list (sender ${address})`,
  },
];

for (const { rule, message, block, code, text } of CASES) {
  test(`validateMessage refuses ${rule}`, () => {
    const validate = () => validateMessage(messageOf(message), blockContext(block), stateWith());
    assert.throws(validate, { code, message: text });
  });
}

test("validateMessage accepts a message that breaks no rule", () => {
  validateMessage(messageOf(), blockContext(), stateWith());
  validateMessage(messageOf({ blobVersionedHashes: [blobHash], maxFeePerBlobGas: 1n }), blockContext(), stateWith());
});

test("validateMessage refuses a nonce below the account's and the last nonce there is", () => {
  const withNonce = (nonce: bigint) => stateWith(new Map([[alice, account({ nonce, balance: ETHER })]]));
  assert.throws(() => validateMessage(messageOf(), blockContext(), withNonce(3n)), {
    code: "TX_NONCE_MISMATCH_TOO_LOW",
    message: `nonce too low: address ${address}, tx: 0 state: 3`,
  });
  const last = 2n ** 64n - 1n;
  assert.throws(() => validateMessage(messageOf({ nonce: last }), blockContext(), withNonce(last)), {
    code: "TX_NONCE_IS_MAX",
    message: `nonce has max value: address ${address}, nonce: ${last}`,
  });
});

test("validateMessage refuses a contract as sender but not a delegated account (EIP-3607, EIP-7702)", () => {
  const state = stateWith(new Map([[alice, account({ balance: ETHER, code: "0x6001" })]]));
  assert.throws(() => validateMessage(messageOf(), blockContext(), state), {
    code: "TX_SENDER_NOT_EOA",
    message: `sender not an eoa: address ${address}, len(code): 2`,
  });
  const codeHash = state.putCode(delegationCode(bob));
  state.setAccount(alice, { nonce: 0n, balance: ETHER, codeHash });
  validateMessage(messageOf(), blockContext(), state);
});

test("validateMessage keeps each rule from its fork on only", () => {
  const heavy = messageOf({ gasLimit: 20_000_000n });
  validateMessage(heavy, blockContext({ hardfork: "prague" }), stateWith());
  const cheap = messageOf({ maxFeePerGas: 1n });
  validateMessage(cheap, blockContext({ hardfork: "berlin" }), stateWith());
  const large = messageOf({ to: null, data: new Uint8Array(60_000) });
  validateMessage(large, blockContext({ hardfork: "paris" }), stateWith());
  const seven = messageOf({
    blobVersionedHashes: new Array(7).fill(blobHash),
    maxFeePerBlobGas: 1n,
  });
  validateMessage(seven, blockContext({ hardfork: "prague" }), stateWith());
});

test("validateMessage lets a call off what calls are let off", () => {
  const checks: MessageChecks = { skipNonce: true, skipTransactionChecks: true, noBaseFee: true };
  const free = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  const message = messageOf({ nonce: 99n, gasLimit: 50_000_000n, ...free });
  validateMessage(message, blockContext(), stateWith(), checks);
  // A price that is given counts in a call too.
  const priced = messageOf({ nonce: 99n, maxFeePerGas: 1n, maxPriorityFeePerGas: 0n });
  assert.throws(() => validateMessage(priced, blockContext(), stateWith(allocWith()), checks), {
    code: "TX_INSUFFICIENT_MAX_FEE_PER_GAS",
  });
});
