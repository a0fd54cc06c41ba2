import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeFunctionResult, encodeFunctionData } from "viem";
import {
  ACCOUNTS,
  GENESIS,
  inputOf,
  KEYS,
  openTestApplication,
  PROPOSER,
  proposalOf,
  type TestApplication,
  transferOf,
} from "../../test/support/consensus/test-application.ts";
import { compressPublicKey } from "../base/crypto/compressed-public-key.ts";
import { publicKeyFromPrivate } from "../base/crypto/secp256k1.ts";
import { type Address, ZERO_ADDRESS } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../base/primitives/hex.ts";
import type { Transaction } from "../base/types/transaction/transaction.ts";
import { importBlock } from "../chain/chain.ts";
import { call } from "../evm/execution/call/call.ts";
import {
  ALLOWED_ACCOUNTS_ADDRESS,
  ALLOWED_ACCOUNTS_CODE,
  allowedAccountsStorage,
} from "../node/config/genesis/allowed-accounts.ts";

const abi = [
  ...["maySend", "mayDeploy"].map((name) => ({
    type: "function",
    name,
    stateMutability: "view",
    inputs: [{ name: "account", type: "address" }],
    outputs: [{ name: "", type: "bool" }],
  })),
  {
    type: "function",
    name: "set",
    stateMutability: "nonpayable",
    inputs: [
      { name: "account", type: "address" },
      { name: "permissions", type: "uint256" },
      { name: "name", type: "string" },
    ],
    outputs: [],
  },
  {
    type: "function",
    name: "setOwner",
    stateMutability: "nonpayable",
    inputs: [{ name: "owner_", type: "address" }],
    outputs: [],
  },
];
const [OWNER, SENDER, STRANGER] = [0, 1, 2];
const [NOTHING, SEND, DEPLOY, BOTH] = [0n, 1n, 2n, 3n];

/** A chain whose first account is the owner of the contract and the only one that may do anything. */
function openPermissioned(): TestApplication {
  const storage = allowedAccountsStorage(ACCOUNTS[OWNER]!, []);
  const contract = {
    balance: 0n,
    nonce: 1n,
    code: hexToBytes(ALLOWED_ACCOUNTS_CODE),
    storage: new Map(Object.entries(storage).map(([slot, word]) => [slot as Hash, BigInt(word)])),
  };
  return openTestApplication({
    genesis: {
      ...GENESIS,
      config: { ...GENESIS.config, accountPermissions: ALLOWED_ACCOUNTS_ADDRESS },
      alloc: new Map([...GENESIS.alloc, [ALLOWED_ACCOUNTS_ADDRESS, contract]]),
    },
  });
}

function callOf(from: number, nonce: number, functionName: string, args: readonly unknown[]): Transaction {
  const data = hexToBytes(encodeFunctionData({ abi, functionName, args }));
  return transferOf(from, nonce, { to: ALLOWED_ACCOUNTS_ADDRESS, value: 0n, gasLimit: 200_000n, data });
}

function setOf(nonce: number, account: Address, permissions: bigint): Transaction {
  return callOf(OWNER, nonce, "set", [account, permissions, "shop"]);
}

function creationOf(from: number, nonce: number): Transaction {
  return transferOf(from, nonce, { to: null, value: 0n, gasLimit: 100_000n, data: hexToBytes("0x00") });
}

function nextProposal({ application }: TestApplication) {
  return proposalOf(application.info().height + 1);
}

/** Makes a block of what is pooled; its transactions. */
function decide(node: TestApplication): readonly Transaction[] {
  const proposal = nextProposal(node);
  const txs = node.application.prepareProposal({ ...proposal, maxTxBytes: 1 << 20 });
  node.application.finalizeBlock(inputOf(proposal, txs));
  node.application.commit();
  return node.chain.head().block.transactions;
}

/** Has `tx`, which must be valid, in a block of its own. */
function execute(node: TestApplication, tx: Transaction): void {
  node.mempool.add({ tx });
  assert.deepEqual(decide(node), [tx]);
  assert.equal(node.chain.head().receipts[0]!.status, 1);
}

/** A block that a dishonest proposer makes: any transactions after the proposer data of an empty one. */
function forged(node: TestApplication, txs: readonly Transaction[]) {
  const proposal = nextProposal(node);
  const [first] = openPermissioned().application.prepareProposal({ ...proposalOf(1), maxTxBytes: 1 << 20 });
  return inputOf(proposal, [first!, ...txs.map(({ raw }) => raw)]);
}

test("the pool takes transactions of accounts that may send, and creations of those that may create", () => {
  const node = openPermissioned();
  const [, sender] = ACCOUNTS;
  const add = (tx: Transaction) => node.mempool.add({ tx });
  assert.throws(() => add(transferOf(SENDER, 0)), { code: "TX_SENDER_NOT_ALLOWED" });
  assert.throws(() => add(creationOf(SENDER, 0)), { code: "TX_SENDER_NOT_ALLOWED" });
  execute(node, setOf(0, sender!, SEND));
  assert.throws(() => add(creationOf(SENDER, 0)), { code: "TX_DEPLOYER_NOT_ALLOWED" });
  execute(node, transferOf(SENDER, 0));
  execute(node, setOf(1, sender!, DEPLOY));
  assert.throws(() => add(creationOf(SENDER, 1)), { code: "TX_SENDER_NOT_ALLOWED" });
  execute(node, setOf(2, sender!, BOTH));
  execute(node, creationOf(SENDER, 1));
});

test("permissions of the zero address apply to all accounts", () => {
  const node = openPermissioned();
  execute(node, setOf(0, ZERO_ADDRESS, SEND));
  execute(node, transferOf(STRANGER, 0));
  assert.throws(() => node.mempool.add({ tx: creationOf(STRANGER, 1) }), { code: "TX_DEPLOYER_NOT_ALLOWED" });
  execute(node, setOf(1, ACCOUNTS[STRANGER]!, DEPLOY));
  execute(node, creationOf(STRANGER, 1));
});

test("a proposal with a transaction of an account that may not is rejected; of a decided block it is left out", () => {
  for (const tx of [transferOf(STRANGER, 0), creationOf(STRANGER, 0)]) {
    const node = openPermissioned();
    const own = transferOf(OWNER, 0);
    const input = forged(node, [own, tx]);
    assert.equal(node.application.processProposal(input), false);
    assert.equal(node.application.processProposal(forged(node, [own])), true);
    const { results } = node.application.finalizeBlock(input);
    assert.deepEqual(
      results.map(({ code }) => code),
      [0, 0, 1],
    );
    node.application.commit();
    assert.deepEqual(node.chain.head().block.transactions, [own]);
    assert.deepEqual(node.failures, []);
  }
});

test("permissions come from the parent's state, whatever the block changes", () => {
  const node = openPermissioned();
  const [, sender] = ACCOUNTS;
  const granting = setOf(0, sender!, SEND);
  const granted = transferOf(SENDER, 0);
  assert.equal(node.application.processProposal(forged(node, [granting, granted])), false);
  execute(node, granting);
  assert.equal(node.application.processProposal(forged(node, [granted])), true);

  const revoking = setOf(1, sender!, NOTHING);
  const input = forged(node, [revoking, granted]);
  assert.equal(node.application.processProposal(input), true);
  node.application.finalizeBlock(input);
  node.application.commit();
  assert.deepEqual(node.chain.head().block.transactions, [revoking, granted]);
  assert.equal(node.application.processProposal(forged(node, [transferOf(SENDER, 1)])), false);
});

test("transactions leave the pool when their account may send no more, and come into no block", () => {
  const node = openPermissioned();
  const [, sender] = ACCOUNTS;
  execute(node, setOf(0, sender!, BOTH));
  const removed: unknown[] = [];
  node.mempool.onRemoved(({ tx }, reason) => removed.push([tx.hash, reason]));
  // Of nonce 1: it waits, as queued ones do.
  const queued = creationOf(SENDER, 1);
  node.mempool.add({ tx: queued });
  const downgrade = setOf(1, sender!, SEND);
  execute(node, downgrade);
  assert.deepEqual(removed, [
    [downgrade.hash, "included"],
    [queued.hash, "invalid"],
  ]);
  node.mempool.add({ tx: transferOf(SENDER, 1) });
  execute(node, setOf(2, sender!, NOTHING));
  assert.deepEqual(node.mempool.counts(), { pending: 0, queued: 0 });
});

test("the packer skips a forbidden sender's pooled transactions, and continues with other accounts", () => {
  const node = openPermissioned();
  const [, sender] = ACCOUNTS;
  execute(node, setOf(0, sender!, SEND));
  const revoking = setOf(1, sender!, NOTHING);
  node.mempool.add({ tx: transferOf(SENDER, 0) });
  node.mempool.add({ tx: revoking });
  // The pool does not learn of the block.
  const input = forged(node, [revoking]);
  node.mempool.onHead = () => {};
  node.application.finalizeBlock(input);
  node.application.commit();
  const own = transferOf(OWNER, 2);
  node.mempool.add({ tx: own });
  assert.equal(node.mempool.get(transferOf(SENDER, 0).hash)?.sender, sender);
  assert.deepEqual(decide(node), [own]);
  assert.deepEqual(node.failures, []);
});

test("an import of a block with a transaction of an account that may not is invalid", () => {
  // The same state and hash of block 0, without the rule.
  const free = openPermissioned();
  delete (free.chain.config as { accountPermissions?: Address }).accountPermissions;
  const node = openPermissioned();
  assert.equal(node.chain.genesisHash, free.chain.genesisHash);
  node.mempool.add({ tx: transferOf(OWNER, 0) });
  decide(node);
  const valid = node.chain.head().block;
  const other = openPermissioned();
  importBlock(other.chain, valid, other.execution);
  assert.equal(other.chain.head().block.hash, valid.hash);

  const input = forged(node, [transferOf(STRANGER, 0)]);
  free.application.finalizeBlock(inputOf(proposalOf(1), input.txs));
  free.application.commit();
  const { block } = free.chain.head();
  assert.equal(block.transactions.length, 1);
  const third = openPermissioned();
  assert.throws(() => importBlock(third.chain, block, third.execution), {
    code: "BLOCK_INVALID_TRANSACTION",
    details: { index: 0, hash: block.transactions[0]!.hash, reason: "TX_SENDER_NOT_ALLOWED" },
  });
  assert.equal(third.chain.head().block.header.number, 0);
});

test("votes of validators count whose accounts may not send", () => {
  const [, , , candidate] = ACCOUNTS;
  const publicKey = compressPublicKey(publicKeyFromPrivate(KEYS[3]!));
  const node = openPermissioned();
  node.voting.propose(candidate!, true, publicKey);
  decide(node);
  assert.deepEqual(
    node.voting.snapshotAt(1).signers.map(({ address }) => address),
    [PROPOSER, candidate!].sort(),
  );
});

test("contracts/AllowedAccounts.sol matches what nodes read, and its owner cannot lock itself out", () => {
  const node = openPermissioned();
  const [owner, sender, stranger] = ACCOUNTS;
  const ask = (functionName: string, account: Address) => {
    const { header } = node.chain.head().block;
    const target = {
      header,
      state: node.chain.stateAt(header.number),
      blockHash: (number: number) => node.chain.blockHash(number),
    };
    const data = hexToBytes(encodeFunctionData({ abi, functionName, args: [account] }));
    const message = { from: ZERO_ADDRESS, to: ALLOWED_ACCOUNTS_ADDRESS, data, gas: 100_000n };
    const result = call(message, target, node.execution, { timeoutMs: 1_000 });
    return decodeFunctionResult({ abi, functionName, data: bytesToHex(result) });
  };
  const answers = (account: Address) => [ask("maySend", account), ask("mayDeploy", account)];
  const statusOf = (tx: Transaction) => {
    node.mempool.add({ tx });
    decide(node);
    return node.chain.head().receipts[0]!.status;
  };
  assert.deepEqual(answers(owner!), [true, true]);
  assert.deepEqual(answers(sender!), [false, false]);
  assert.equal(statusOf(setOf(0, sender!, DEPLOY)), 1);
  assert.deepEqual(answers(sender!), [false, false]);
  assert.equal(statusOf(setOf(1, sender!, BOTH)), 1);
  assert.deepEqual(answers(sender!), [true, true]);
  assert.equal(statusOf(setOf(2, owner!, DEPLOY)), 0);
  assert.equal(statusOf(setOf(3, sender!, 4n)), 0);
  assert.equal(statusOf(callOf(SENDER, 0, "setOwner", [sender!])), 0);
  assert.equal(statusOf(callOf(OWNER, 4, "setOwner", [stranger!])), 1);
  assert.deepEqual(answers(stranger!), [true, false]);
  assert.equal(statusOf(setOf(5, sender!, NOTHING)), 0);
  assert.equal(statusOf(callOf(STRANGER, 0, "set", [ZERO_ADDRESS, BOTH, ""])), 1);
  assert.deepEqual(answers(`0x${"77".repeat(20)}` as Address), [true, true]);
});
