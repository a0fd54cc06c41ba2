import assert from "node:assert/strict";
import { test } from "node:test";
import {
  account,
  alice,
  allocWith,
  bob,
  coinbase,
  contract,
  ETHER,
  GWEI,
  type TestChain,
  testChain,
  transactionOf,
} from "../../../../test/support/evm/execution/factories.ts";
import fc from "../../../../test/support/fast-check.ts";
import { nextGasLimit } from "../../../base/params/fees.ts";
import { BEACON_ROOTS_ADDRESS, HISTORY_STORAGE_ADDRESS } from "../../../base/params/gas.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import { hashFromBigint, hashToBytes } from "../../../base/primitives/hash.ts";
import type { Block } from "../../../base/types/block.ts";
import { validateBody } from "../validation/validate-body.ts";
import { checkGasLimit, validateHeader } from "../validation/validate-header.ts";
import { createBlockBuilder, nextSlotNumber, type PayloadAttributes } from "./build-block.ts";
import { executeBlock } from "./execute-block.ts";

const attributes: PayloadAttributes = {
  timestamp: 1_012,
  feeRecipient: coinbase,
  gasLimit: 30_000_000n,
};

function validate({ genesis, modules }: TestChain, block: Block) {
  validateHeader(block.header, genesis.header, modules.config);
  validateBody(block, modules.config, () => undefined);
  return executeBlock(block, genesis, modules);
}

test("a sealed block is valid after its parent, with and without transactions", () => {
  const chain = testChain(allocWith("0x60aa60bb5fa1"));
  const empty = createBlockBuilder(chain.genesis, attributes, chain.modules).seal();
  validate(chain, empty.executed.block);

  const builder = createBlockBuilder(chain.genesis, attributes, chain.modules);
  builder.add(transactionOf());
  builder.add(transactionOf({ nonce: 1n, to: contract, gasLimit: 50_000n, value: 0n }), alice);
  builder.add(transactionOf({ nonce: 2n, to: null, gasLimit: 60_000n, value: 0n }));
  const { executed, changes, state } = builder.seal();
  const { block, receipts, senders } = executed;
  const outcome = validate(chain, block);
  assert.deepEqual(outcome.receipts, receipts);
  assert.deepEqual(senders, [alice, alice, alice]);
  assert.equal(outcome.trie.root, block.header.stateRoot);
  assert.equal(block.header.gasUsed, receipts.at(-1)?.cumulativeGasUsed);
  assert.equal(state.account(bob)?.balance, 1n);
  assert.ok(changes.accounts.some(({ address }) => address === bob));
});

test("a transaction that is rejected leaves no trace in the block", () => {
  const chain = testChain();
  const builder = createBlockBuilder(chain.genesis, attributes, chain.modules);
  builder.add(transactionOf());
  const gasLeft = builder.gasLeft();
  assert.throws(() => builder.add(transactionOf()), { code: "TX_NONCE_MISMATCH_TOO_LOW" });
  assert.throws(() => builder.add(transactionOf({ nonce: 1n, gasLimit: 20_000n })), {
    code: "TX_INTRINSIC_GAS_TOO_LOW",
  });
  assert.throws(() => builder.add(transactionOf({ nonce: 1n, chainId: 2n })), {
    code: "TX_INVALID_CHAINID",
    message: "invalid chain id for signer: have 2 want 1",
  });
  assert.equal(builder.gasLeft(), gasLeft);
  const { executed } = builder.seal();
  assert.equal(executed.block.transactions.length, 1);
  validate(chain, executed.block);
});

test("a sealed block holds its withdrawals", () => {
  const chain = testChain();
  const withdrawals = [{ index: 0n, validatorIndex: 1n, address: bob, amount: 3n }];
  const builder = createBlockBuilder(chain.genesis, { ...attributes, withdrawals }, chain.modules);
  const { executed, state } = builder.seal();
  validate(chain, executed.block);
  assert.equal(state.account(bob)?.balance, 3n * GWEI);
});

test("the protocol's own calls see beacon root and parent hash (EIP-4788, EIP-2935)", () => {
  // Both contracts are stand-ins that store what they are called with in slot 0.
  const store = account({ nonce: 1n, code: "0x5f355f55" });
  const alloc = allocWith("0x", [
    [BEACON_ROOTS_ADDRESS, store],
    [HISTORY_STORAGE_ADDRESS, store],
  ]);
  const chain = testChain(alloc);
  const parentBeaconBlockRoot = hashFromBigint(77n);
  const builder = createBlockBuilder(chain.genesis, { ...attributes, parentBeaconBlockRoot }, chain.modules);
  const { executed, state } = builder.seal();
  const slot = hashFromBigint(0n);
  assert.equal(state.storage(BEACON_ROOTS_ADDRESS, slot), 77n);
  const parentHash = bytesToBigint(hashToBytes(chain.genesis.hash));
  assert.equal(state.storage(HISTORY_STORAGE_ADDRESS, slot), parentHash);
  assert.equal(executed.block.header.gasUsed, 0n);
});

test("executeBlock rejects a header that lies about the execution", () => {
  const chain = testChain();
  const builder = createBlockBuilder(chain.genesis, attributes, chain.modules);
  builder.add(transactionOf());
  const { block } = builder.seal().executed;
  const wrong = hashFromBigint(1n);
  const lies = [
    [{ gasUsed: 1n }, "BLOCK_INVALID_GAS_USED"],
    [{ logsBloom: new Uint8Array(256).fill(1) }, "BLOCK_INVALID_LOG_BLOOM"],
    [{ receiptsRoot: wrong }, "BLOCK_INVALID_RECEIPTS_ROOT"],
    [{ requestsHash: wrong }, "BLOCK_INVALID_REQUESTS"],
    [{ stateRoot: wrong }, "BLOCK_INVALID_STATE_ROOT"],
  ] as const;
  for (const [lie, code] of lies) {
    const header = { ...block.header, ...lie };
    assert.throws(() => executeBlock({ ...block, header }, chain.genesis, chain.modules), { code });
  }
});

test("executeBlock names the transaction that can not be in the block", () => {
  const chain = testChain();
  const builder = createBlockBuilder(chain.genesis, attributes, chain.modules);
  builder.add(transactionOf());
  const { block } = builder.seal().executed;
  const tx = transactionOf({ nonce: 5n });
  const broken = { ...block, transactions: [...block.transactions, tx] };
  assert.throws(() => executeBlock(broken, chain.genesis, chain.modules), {
    code: "BLOCK_INVALID_TRANSACTION",
    details: { index: 1, hash: tx.hash, reason: "TX_NONCE_MISMATCH_TOO_HIGH" },
  });
});

test("sealing fails without the request contracts of Prague", () => {
  const chain = testChain(
    new Map([
      ["0x00000961ef480eb55e80d19ad83579a64c007002" as typeof alice, account()],
      [alice, account({ balance: ETHER })],
    ]),
  );
  const builder = createBlockBuilder(chain.genesis, attributes, chain.modules);
  assert.throws(() => builder.seal(), {
    code: "BLOCK_SYSTEM_CONTRACT_EMPTY",
    message:
      "failed to process withdrawal queue: empty system contract: no code at 0x00000961Ef480Eb55e80D19ad83579A64c007002",
  });
});

test("nextGasLimit never moves further than a block may, and gets there", () => {
  assert.equal(nextGasLimit(30_000_000n, 60_000_000n), 30_000_000n + 29_296n - 1n);
  assert.equal(nextGasLimit(30_000_000n, 30_000_100n), 30_000_100n);
  assert.equal(nextGasLimit(30_000_000n, 1n), 30_000_000n - 29_296n + 1n);
  const limits = fc.bigInt({ min: 5_000n, max: 2n ** 40n });
  fc.assert(
    fc.property(limits, limits, (parent, desired) => {
      checkGasLimit(nextGasLimit(parent, desired), parent);
    }),
  );
});

test("a transaction that pays less than the agreed tip is in no block, built or imported", () => {
  const chain = testChain();
  const tx = transactionOf({ maxPriorityFeePerGas: 1n });
  const builder = createBlockBuilder(chain.genesis, attributes, chain.modules);
  builder.add(tx);
  const { block } = builder.seal().executed;
  const agreed = (minimumTip: bigint) => ({ ...chain.modules.config, minimumTip });
  validateBody(block, agreed(1n), () => undefined);
  assert.throws(() => validateBody(block, agreed(2n), () => undefined), {
    code: "BLOCK_INVALID_TRANSACTION",
    details: { hash: tx.hash, reason: "TX_TIP_BELOW_AGREED_MINIMUM" },
  });
  const own = createBlockBuilder(chain.genesis, attributes, { ...chain.modules, config: agreed(2n) });
  assert.throws(() => own.add(tx), { code: "TX_TIP_BELOW_AGREED_MINIMUM" });
});

test("nextSlotNumber is one after the parent's, the block's number after a parent without one, and stays within 64 bits", () => {
  assert.equal(nextSlotNumber({ number: 35 }), 36n);
  assert.equal(nextSlotNumber({ number: 35, slotNumber: 0n }), 1n);
  assert.equal(nextSlotNumber({ number: 0, slotNumber: 7n }), 8n);
  assert.equal(nextSlotNumber({ number: 0, slotNumber: 2n ** 64n - 1n }), 0n);
});
