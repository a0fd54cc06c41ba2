import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  CHAIN_ID,
  createTestPool,
  ETHER,
  GWEI,
  testAccount,
  testHeader,
  testKey,
  transfer,
} from "../../../test/support/consensus/mempool/pool-fixture.ts";
import { blobVersionedHash } from "../../base/crypto/kzg/blob.ts";
import { InvariantError } from "../../base/errors.ts";
import { allForksAtGenesis } from "../../base/params/blob-schedule.ts";
import { type Address, ZERO_ADDRESS } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { buildTransaction } from "../../base/types/transaction/encode.ts";
import { signAuthorization, signTransaction } from "../../base/types/transaction/sign.ts";
import type { BlobSidecar } from "../../base/types/transaction/transaction.ts";
import { memoryBytesOf } from "./entry.ts";
import type { Mempool } from "./mempool.ts";
import type { PooledTransaction, RemovalReason, Submission } from "./pool.ts";

const [alice, bob, carol] = [testAccount(0), testAccount(1), testAccount(2)];

/** A pool in which alice, bob and carol have an ether each. */
function poolWithAccounts(options: Parameters<typeof createTestPool>[0] = {}) {
  const fixture = createTestPool(options);
  for (const account of [alice, bob, carol]) fixture.state.set(account, { balance: ETHER });
  const announced: Hash[] = [];
  fixture.pool.onPending((entries) => announced.push(...entries.map(({ tx }) => tx.hash)));
  return { ...fixture, announced };
}

function nonces(entries: readonly PooledTransaction[]): number[] {
  return entries.map(({ tx }) => Number(tx.nonce));
}

/** Nonces of an account, pending and queued. */
function standing(pool: Mempool, address = alice) {
  const { pending, queued } = pool.contentFrom(address);
  return { pending: nonces(pending), queued: nonces(queued) };
}

function rejection(code: string, message: string) {
  return { name: "TransactionRejectedError", code, message };
}

describe("admission", () => {
  const cases: readonly [name: string, submission: () => Submission, code: string, message: string][] = [
    [
      "too large a transaction",
      () => transfer(alice, 0, { data: new Uint8Array(131_072) }),
      "POOL_OVERSIZED_DATA",
      "oversized data: transaction size 131134, limit 131072",
    ],
    [
      "too long init code",
      () => transfer(alice, 0, { to: null, data: new Uint8Array(49_153), gasLimit: 1_000_000n }),
      "TX_INITCODE_SIZE_EXCEEDED",
      "max initcode size exceeded: code size 49153 limit 49152",
    ],
    [
      "more gas than a transaction may have (EIP-7825)",
      () => transfer(alice, 0, { gasLimit: 16_777_217n }),
      "TX_GAS_LIMIT_EXCEEDS_MAXIMUM",
      "transaction gas limit too high (cap: 16777216, tx: 16777217)",
    ],
    [
      "a tip above the fee cap",
      () => transfer(alice, 0, { maxPriorityFeePerGas: 2n, maxFeePerGas: 1n }),
      "TX_PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS",
      "max priority fee per gas higher than max fee per gas",
    ],
    [
      "another chain's id",
      () => transfer(alice, 0, { chainId: 1n }),
      "TX_INVALID_SENDER",
      "invalid sender: invalid chain id for signer: have 1 want 1337",
    ],
    [
      "a signature of nobody",
      () => ({ tx: buildTransaction({ ...transferFields, nonce: 0n }, { v: 2n, r: 1n, s: 1n }) }),
      "TX_INVALID_SENDER",
      "invalid sender: invalid transaction v, r, s values",
    ],
    ["the last nonce", () => transfer(alice, 2n ** 64n - 1n), "TX_NONCE_IS_MAX", "nonce has max value"],
    [
      "less gas than its intrinsic gas",
      () => transfer(alice, 0, { gasLimit: 20_999n }),
      "TX_INTRINSIC_GAS_TOO_LOW",
      "intrinsic gas too low: gas 20999, minimum needed 21000",
    ],
    [
      "less gas than its calldata's floor (EIP-7623)",
      () => transfer(alice, 0, { data: new Uint8Array(10).fill(1), gasLimit: 21_160n }),
      "TX_INTRINSIC_GAS_BELOW_FLOOR_GAS_COST",
      "insufficient gas for floor data gas cost: gas 21160, minimum needed 21400",
    ],
    [
      "no tip",
      () => transfer(alice, 0, { maxPriorityFeePerGas: 0n }),
      "POOL_GAS_PRICE_BELOW_MINIMUM",
      "transaction gas price below minimum: gas tip cap 0, minimum needed 1",
    ],
    [
      "a nonce of the past",
      () => transfer(bob, 4),
      "TX_NONCE_MISMATCH_TOO_LOW",
      "nonce too low: next nonce 5, tx nonce 4",
    ],
    [
      "more than the balance",
      () => transfer(alice, 0, { value: ETHER }),
      "TX_INSUFFICIENT_ACCOUNT_FUNDS",
      "insufficient funds for gas * price + value: balance 1000000000000000000, tx cost 1002100000000000000, overshot 2100000000000000",
    ],
    [
      "no authorization (EIP-7702)",
      () => ({
        sender: alice,
        tx: signTransaction({ ...transferFields, type: 4, nonce: 0n, authorizationList: [] }, testKey(0)),
      }),
      "TX_TYPE_4_EMPTY_AUTHORIZATION_LIST",
      "set code tx must have at least one authorization tuple",
    ],
  ];
  for (const [name, submission, code, message] of cases) {
    test(`add rejects ${name}`, () => {
      const { pool, state } = poolWithAccounts();
      state.set(bob, { nonce: 5n });
      assert.throws(() => pool.add(submission()), rejection(code, message));
      assert.deepEqual(pool.counts(), { pending: 0, queued: 0 });
    });
  }

  test("add rejects more gas than the head's limit", () => {
    const { pool } = poolWithAccounts({ header: { gasLimit: 50_000n } });
    assert.throws(
      () => pool.add(transfer(alice, 0, { gasLimit: 50_001n })),
      rejection("TX_GAS_ALLOWANCE_EXCEEDED", "exceeds block gas limit"),
    );
  });

  test("add rejects types the head's fork does not know", () => {
    const { londonBlock: _, ...berlin } = allForksAtGenesis(CHAIN_ID);
    const config = { ...berlin, terminalTotalDifficulty: 1n };
    const { pool } = poolWithAccounts({ config, header: { difficulty: 1n } });
    assert.throws(
      () => pool.add(transfer(alice, 0)),
      rejection("TX_TYPE_NOT_SUPPORTED", "transaction type not supported: type 2 rejected, pool not yet in London"),
    );
  });

  test("add recovers the sender where it is not given", () => {
    const { pool } = poolWithAccounts();
    const tx = signTransaction({ ...transferFields, nonce: 0n }, testKey(0));
    pool.add({ tx });
    assert.equal(pool.get(tx.hash)?.sender, alice);
    assert.throws(() => pool.add({ tx }), rejection("POOL_ALREADY_KNOWN", "already known"));
  });
});

const transferFields = {
  type: 2,
  chainId: CHAIN_ID,
  maxFeePerGas: 100n * GWEI,
  maxPriorityFeePerGas: GWEI,
  gasLimit: 100_000n,
  to: ZERO_ADDRESS,
  value: 0n,
  data: EMPTY_BYTES,
  accessList: [],
} as const;

describe("pending and queued", () => {
  test("a transaction with the account's nonce is pending, one behind a gap is queued until the gap closes", () => {
    const { pool, announced } = poolWithAccounts();
    const [first, third, second] = [transfer(alice, 0), transfer(alice, 2), transfer(alice, 1)];
    pool.add(first);
    pool.add(third);
    assert.deepEqual(standing(pool), { pending: [0], queued: [2] });
    assert.equal(pool.nonceOf(alice), 1n);
    assert.deepEqual(announced, [first.tx.hash]);
    assert.ok(pool.get(third.tx.hash));
    pool.add(second);
    assert.deepEqual(standing(pool), { pending: [0, 1, 2], queued: [] });
    assert.deepEqual(
      announced,
      [first, second, third].map(({ tx }) => tx.hash),
    );
    assert.deepEqual(pool.counts(), { pending: 3, queued: 0 });
    assert.equal(pool.nonceOf(alice), 3n);
    assert.equal(pool.nonceOf(bob), 0n);
    const { pending, queued } = pool.content();
    assert.deepEqual([...pending.keys()], [alice]);
    assert.equal(queued.size, 0);
  });

  test("all pending transactions of an account must be payable together, queued ones each alone", () => {
    const { pool } = poolWithAccounts();
    const half = { value: ETHER / 2n };
    pool.add(transfer(alice, 5, half));
    pool.add(transfer(alice, 0, half));
    assert.throws(
      () => pool.add(transfer(alice, 1, half)),
      rejection(
        "TX_INSUFFICIENT_ACCOUNT_FUNDS",
        "insufficient funds for gas * price + value: balance 1000000000000000000, queued cost 502100000000000000, tx cost 502100000000000000, overshot 4200000000000000",
      ),
    );
    assert.deepEqual(standing(pool), { pending: [0], queued: [5] });
  });

  test("a replacement must be payable together with the rest", () => {
    const { pool } = poolWithAccounts();
    const third = { value: ETHER / 3n };
    pool.add(transfer(alice, 0, third));
    pool.add(transfer(alice, 1, third));
    const fees = { maxFeePerGas: 200n * GWEI, maxPriorityFeePerGas: 2n * GWEI };
    assert.throws(
      () => pool.add(transfer(alice, 0, { ...fees, value: (ETHER * 2n) / 3n })),
      rejection(
        "TX_INSUFFICIENT_ACCOUNT_FUNDS",
        "insufficient funds for gas * price + value: balance 1000000000000000000, queued cost 670866666666666666, tx bumped 335433333333333333, overshot 6299999999999999",
      ),
    );
    pool.add(transfer(alice, 0, { ...fees, ...third }));
    // What the replaced one cost counts no longer.
    pool.add(transfer(alice, 2, { value: ETHER / 4n }));
  });

  test("a replacement must raise both fees by a tenth", () => {
    const { pool, announced } = poolWithAccounts();
    const old = transfer(alice, 0, { maxFeePerGas: 1000n, maxPriorityFeePerGas: 100n });
    pool.add(old);
    for (const [maxFeePerGas, maxPriorityFeePerGas] of [
      [1099n, 110n],
      [1100n, 109n],
      [1000n, 100n],
      [5000n, 100n],
    ] as const) {
      assert.throws(
        () => pool.add(transfer(alice, 0, { maxFeePerGas, maxPriorityFeePerGas })),
        rejection("POOL_REPLACEMENT_UNDERPRICED", "replacement transaction underpriced"),
      );
    }
    const better = transfer(alice, 0, { maxFeePerGas: 1100n, maxPriorityFeePerGas: 110n });
    pool.add(better);
    assert.equal(pool.get(old.tx.hash), undefined);
    assert.deepEqual(announced, [old.tx.hash, better.tx.hash]);
    // The same rule holds in the queue, where nothing is announced.
    pool.add(transfer(alice, 7, { maxFeePerGas: 1000n, maxPriorityFeePerGas: 100n }));
    assert.throws(() => pool.add(transfer(alice, 7, { maxFeePerGas: 1099n, maxPriorityFeePerGas: 110n })), {
      code: "POOL_REPLACEMENT_UNDERPRICED",
    });
    pool.add(transfer(alice, 7, { maxFeePerGas: 1100n, maxPriorityFeePerGas: 110n }));
    assert.equal(announced.length, 2);
    assert.deepEqual(pool.counts(), { pending: 1, queued: 1 });
  });

  test("a replacement of a wei-priced transaction must still pay more", () => {
    const { pool } = poolWithAccounts();
    pool.add(transfer(alice, 0, { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }));
    // 110 % of 1 wei is 1 wei again, rounded down.
    assert.throws(() => pool.add(transfer(alice, 0, { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n })), {
      code: "POOL_REPLACEMENT_UNDERPRICED",
    });
    pool.add(transfer(alice, 0, { maxFeePerGas: 2n, maxPriorityFeePerGas: 2n }));
  });

  test("pending and queued transactions of an account have separate limits", () => {
    const { pool } = poolWithAccounts({ accountSlots: 2, accountQueue: 3 });
    const full = (size: number) =>
      rejection("POOL_ACCOUNT_LIMIT_EXCEEDED", `account limit exceeded: pooled ${size} txs`);
    for (const nonce of [9, 8, 3]) pool.add(transfer(alice, nonce));
    assert.throws(() => pool.add(transfer(alice, 7)), full(3));
    for (const nonce of [0, 1]) pool.add(transfer(alice, nonce));
    assert.throws(() => pool.add(transfer(alice, 2)), full(2));
    assert.deepEqual(standing(pool), { pending: [0, 1], queued: [3, 8, 9] });
    // A replacement takes no room.
    const better = { maxFeePerGas: 200n * GWEI, maxPriorityFeePerGas: 2n * GWEI };
    pool.add(transfer(alice, 9, better));
    pool.add(transfer(alice, 1, better));
    pool.add(transfer(bob, 0));
  });

  test("addAll promotes once for all, whatever the order, and answers each", () => {
    const { pool, announced } = poolWithAccounts();
    const batch = [transfer(alice, 1), transfer(alice, 0), transfer(bob, 0, { value: 2n * ETHER })];
    const answers = pool.addAll(batch);
    assert.deepEqual(
      answers.map((answer) => answer?.code),
      [undefined, undefined, "TX_INSUFFICIENT_ACCOUNT_FUNDS"],
    );
    assert.deepEqual(announced, [batch[1]!.tx.hash, batch[0]!.tx.hash]);
  });

  test("version changes with the pool and not with being read", () => {
    const { pool, state } = poolWithAccounts();
    const versions = [pool.version()];
    pool.add(transfer(alice, 0));
    versions.push(pool.version());
    pool.onHead({ header: testHeader({ number: 2 }), state });
    versions.push(pool.version());
    pool.content();
    pool.pendingForBlock({ baseFee: 0n, minimumTip: 0n }).next();
    assert.equal(pool.version(), versions[2]);
    assert.equal(new Set(versions).size, 3);
  });

  test("a listener that is taken off hears nothing more", () => {
    const { pool } = poolWithAccounts();
    let calls = 0;
    const stop = pool.onPending(() => calls++);
    pool.add(transfer(alice, 0));
    stop();
    pool.add(transfer(alice, 1));
    assert.equal(calls, 1);
  });
});

describe("new heads", () => {
  test("included transactions leave, the others stay", () => {
    const { pool, state } = poolWithAccounts();
    for (const nonce of [0, 1, 2]) pool.add(transfer(alice, nonce));
    state.set(alice, { nonce: 2n });
    pool.onHead({ header: testHeader({ number: 2 }), state });
    assert.deepEqual(standing(pool), { pending: [2], queued: [] });
    assert.equal(pool.nonceOf(alice), 3n);
    state.set(alice, { nonce: 7n });
    pool.onHead({ header: testHeader({ number: 3 }), state, changed: [alice] });
    assert.deepEqual(standing(pool), { pending: [], queued: [] });
    assert.equal(pool.nonceOf(alice), 7n);
  });

  test("a nonce used elsewhere promotes the transactions that waited for it", () => {
    const { pool, state, announced } = poolWithAccounts();
    const waiting = transfer(alice, 1);
    pool.add(waiting);
    state.set(alice, { nonce: 1n });
    pool.onHead({ header: testHeader({ number: 2 }), state, changed: [alice] });
    assert.deepEqual(standing(pool), { pending: [1], queued: [] });
    assert.deepEqual(announced, [waiting.tx.hash]);
  });

  test("a transaction that the balance no longer covers is removed, and later ones are queued", () => {
    const { pool, state } = poolWithAccounts();
    pool.add(transfer(alice, 0));
    pool.add(transfer(alice, 1, { value: ETHER / 2n }));
    pool.add(transfer(alice, 2));
    state.set(alice, { balance: ETHER / 3n });
    pool.onHead({ header: testHeader({ number: 2 }), state });
    assert.deepEqual(standing(pool), { pending: [0], queued: [2] });
    assert.deepEqual(pool.counts(), { pending: 1, queued: 1 });
    assert.equal(pool.nonceOf(alice), 1n);
  });

  test("a lower gas limit removes transactions that no longer fit, also of accounts the block did not touch", () => {
    const { pool, state } = poolWithAccounts();
    pool.add(transfer(alice, 0, { gasLimit: 1_000_000n }));
    pool.add(transfer(bob, 0));
    pool.onHead({ header: testHeader({ number: 2, gasLimit: 900_000n }), state, changed: [] });
    assert.deepEqual(pool.counts(), { pending: 1, queued: 0 });
  });

  test("a transaction of a block that was removed can be pooled again, before those that follow it", () => {
    const { pool, state } = poolWithAccounts();
    const [first, second] = [transfer(alice, 0), transfer(alice, 1)];
    state.set(alice, { nonce: 1n });
    pool.onHead({ header: testHeader({ number: 2 }), state });
    pool.add(second);
    state.set(alice, { nonce: 0n });
    pool.onHead({ header: testHeader({ number: 1 }), state });
    pool.add(first);
    assert.deepEqual(standing(pool), { pending: [0, 1], queued: [] });
    pool.onHead({ header: testHeader({ number: 1 }), state });
    state.set(alice, { nonce: 0n });
    assert.equal(pool.nonceOf(alice), 2n);
  });

  test("Osaka's first block removes transactions above the gas limit of EIP-7825", () => {
    const config = { ...allForksAtGenesis(CHAIN_ID), osakaTime: 100 };
    const { pool, state } = poolWithAccounts({ config });
    pool.add(transfer(alice, 0, { gasLimit: 20_000_000n, maxFeePerGas: 2n * GWEI }));
    pool.add(transfer(alice, 1));
    pool.onHead({ header: testHeader({ number: 2, timestamp: 100 }), state, changed: [] });
    assert.deepEqual(standing(pool), { pending: [], queued: [1] });
  });
});

describe("Amsterdam", () => {
  const config = { ...allForksAtGenesis(CHAIN_ID), amsterdamTime: 100 };
  const after = testHeader({ number: 2, timestamp: 100, gasLimit: 2n ** 33n });
  const fee = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n };

  test("its first block lets transactions in by its prices, and removes none", () => {
    const { pool, state } = poolWithAccounts({ config, header: { gasLimit: 2n ** 33n } });
    const toOneself = transfer(alice, 0, { to: alice, gasLimit: 12_000n });
    const intrinsic = (minimum: bigint) =>
      rejection("TX_INTRINSIC_GAS_TOO_LOW", `intrinsic gas too low: gas 12000, minimum needed ${minimum}`);
    assert.throws(() => pool.add(toOneself), intrinsic(21_000n));
    pool.add(transfer(bob, 0));
    pool.onHead({ header: after, state, changed: [] });
    assert.deepEqual(standing(pool, bob), { pending: [0], queued: [] });
    pool.add(toOneself);
    assert.throws(() => pool.add(transfer(carol, 0, { gasLimit: 12_000n })), intrinsic(15_000n));
    assert.throws(() => pool.add(transfer(carol, 0, { gasLimit: 12_000n, value: 1n })), intrinsic(21_000n));
    assert.throws(() => pool.add(transfer(carol, 0, { gasLimit: 12_000n, to: null })), intrinsic(24_000n));
  });

  test("a transaction may have 2^32 − 1 gas", () => {
    const { pool, state } = poolWithAccounts({ config });
    state.set(alice, { balance: 2n ** 100n });
    pool.onHead({ header: after, state, changed: [alice] });
    const cap = 2n ** 32n - 1n;
    assert.throws(
      () => pool.add(transfer(alice, 0, { ...fee, gasLimit: cap + 1n })),
      rejection("TX_GAS_LIMIT_EXCEEDS_MAXIMUM", `transaction gas limit too high (cap: ${cap}, tx: ${cap + 1n})`),
    );
    pool.add(transfer(alice, 0, { ...fee, gasLimit: cap }));
  });

  test("init code may be as long as the pool's largest transaction", () => {
    const { pool, state } = poolWithAccounts({ config });
    pool.onHead({ header: after, state, changed: [] });
    pool.add(transfer(alice, 0, { ...fee, to: null, gasLimit: 16_000_000n, data: new Uint8Array(130_000) }));
  });
});

describe("limits", () => {
  test("setMinimumTip removes transactions with lower tips and queues later ones", () => {
    const { pool } = poolWithAccounts();
    pool.add(transfer(alice, 0));
    pool.add(transfer(alice, 1, { maxPriorityFeePerGas: 5n }));
    pool.add(transfer(alice, 2));
    pool.add(transfer(bob, 3, { maxPriorityFeePerGas: 5n }));
    pool.setMinimumTip(6n);
    assert.deepEqual(standing(pool), { pending: [0], queued: [2] });
    assert.deepEqual(pool.counts(), { pending: 1, queued: 1 });
    assert.throws(() => pool.add(transfer(bob, 0, { maxPriorityFeePerGas: 5n })), {
      message: "transaction gas price below minimum: gas tip cap 5, minimum needed 6",
    });
    pool.setMinimumTip(1n);
    pool.add(transfer(bob, 0, { maxPriorityFeePerGas: 5n }));
  });

  test("removeStale drops the queue of accounts to which nothing happened for three hours", () => {
    const { pool, clock } = poolWithAccounts();
    pool.add(transfer(alice, 0));
    pool.add(transfer(alice, 5));
    clock.now += 2 * 3_600_000;
    pool.add(transfer(bob, 5));
    clock.now += 2 * 3_600_000;
    pool.removeStale();
    assert.deepEqual(standing(pool), { pending: [0], queued: [] });
    assert.deepEqual(standing(pool, bob).queued, [5]);
    // The first queued transaction after a quiet time begins a new lifetime.
    pool.add(transfer(alice, 6));
    pool.removeStale();
    assert.deepEqual(standing(pool).queued, [6]);
  });

  const price = (tip: bigint) => ({ maxPriorityFeePerGas: tip, maxFeePerGas: 50n * GWEI });
  const TRANSFER_BYTES = memoryBytesOf(transfer(alice, 0, price(10n)).tx, undefined);

  /** A pool for four transfers, three of alice's in it and one of bob's that pays twice as much. */
  function fullPool() {
    const fixture = poolWithAccounts({
      bytesMax: 4 * TRANSFER_BYTES + 20,
      queuedBytesMax: 2 * TRANSFER_BYTES + 20,
    });
    const removed: [nonce: bigint, reason: RemovalReason][] = [];
    fixture.pool.onRemoved(({ tx }, reason) => removed.push([tx.nonce, reason]));
    for (let nonce = 0; nonce < 3; nonce++) fixture.pool.add(transfer(alice, nonce, price(10n)));
    fixture.pool.add(transfer(bob, 0, price(20n)));
    return { ...fixture, removed };
  }

  test("a full pool accepts a transaction that pays a tenth more than the cheapest tail, and evicts that", () => {
    const { pool, removed } = fullPool();
    const underpriced = rejection("POOL_UNDERPRICED", "transaction underpriced");
    assert.throws(() => pool.add(transfer(carol, 0, price(9n))), underpriced);
    assert.throws(() => pool.add(transfer(carol, 0, price(10n))), underpriced);
    const wanting = { maxPriorityFeePerGas: 10n, maxFeePerGas: 60n * GWEI };
    assert.throws(() => pool.add(transfer(carol, 0, wanting)), rejection("POOL_FULL", "txpool is full"));
    assert.deepEqual(removed, []);
    pool.add(transfer(carol, 0, price(11n)));
    assert.deepEqual(removed, [[2n, "evicted"]]);
    assert.deepEqual(standing(pool), { pending: [0, 1], queued: [] });
    assert.deepEqual(standing(pool, carol), { pending: [0], queued: [] });
    assert.equal(pool.nonceOf(alice), 2n);
    assert.deepEqual(pool.counts(), { pending: 4, queued: 0 });
  });

  test("an eviction opens no nonce gap, not before the newcomer either", () => {
    const { pool, removed } = fullPool();
    // The tail of alice is cheapest, but her next transaction needs it.
    pool.add(transfer(alice, 3, price(50n)));
    assert.deepEqual(removed, [[0n, "evicted"]]);
    assert.deepEqual(standing(pool), { pending: [0, 1, 2, 3], queued: [] });
    assert.throws(() => pool.add(transfer(alice, 4, price(50n))), rejection("POOL_FULL", "txpool is full"));
  });

  test("where the fee caps are below the base fee, they decide", () => {
    const { pool, removed } = fullPool();
    const fixture = pool;
    const cheap = { maxPriorityFeePerGas: 1n, maxFeePerGas: GWEI / 2n };
    fixture.add(transfer(carol, 0, price(30n)));
    removed.length = 0;
    assert.throws(() => pool.add(transfer(carol, 1, cheap)), { code: "POOL_UNDERPRICED" });
    pool.remove([...pool.all()].find(({ sender }) => sender === bob)!.tx.hash, "quarantined");
    pool.add(transfer(bob, 0, cheap));
    assert.throws(() => pool.add(transfer(carol, 1, cheap)), { code: "POOL_UNDERPRICED" });
    pool.add(transfer(carol, 1, { ...cheap, maxFeePerGas: (GWEI * 11n) / 20n }));
    assert.deepEqual(removed, [
      [0n, "quarantined"],
      [0n, "evicted"],
    ]);
  });

  test("a transaction with a nonce gap evicts none that is executable", () => {
    const { pool } = fullPool();
    const gapped = transfer(carol, 1, price(100n));
    assert.throws(
      () => pool.add(gapped),
      rejection("POOL_FUTURE_REPLACES_PENDING", "future transaction tries to replace pending"),
    );
    assert.deepEqual(pool.counts(), { pending: 4, queued: 0 });
    pool.add(transfer(carol, 0, price(100n)));
    assert.deepEqual(standing(pool).pending, [0, 1]);
  });

  test("transactions with a nonce gap have a part of the pool and evict each other", () => {
    const { pool, removed } = fullPool();
    for (const address of [alice, bob]) {
      for (const { tx } of pool.contentFrom(address).pending) pool.remove(tx.hash, "quarantined");
    }
    removed.length = 0;
    for (const nonce of [5, 6]) pool.add(transfer(alice, nonce, price(10n)));
    assert.throws(() => pool.add(transfer(bob, 5, price(10n))), { code: "POOL_UNDERPRICED" });
    pool.add(transfer(bob, 5, price(20n)));
    assert.deepEqual(removed, [[6n, "evicted"]]);
    assert.deepEqual(pool.counts(), { pending: 0, queued: 2 });
    // The rest of the pool is for what can be executed, which evicts the queued ones when it is full.
    for (const nonce of [0, 1]) pool.add(transfer(carol, nonce, price(5n)));
    assert.deepEqual(pool.counts(), { pending: 2, queued: 2 });
    pool.add(transfer(carol, 2, price(15n)));
    assert.deepEqual(removed.slice(1), [[5n, "evicted"]]);
  });

  test("a large transaction must pay more than all it evicts, else none leaves", () => {
    const { pool, removed } = fullPool();
    const large = (tip: bigint) => ({
      ...price(tip),
      data: new Uint8Array(1_500),
      gasLimit: 200_000n,
    });
    assert.throws(() => pool.add(transfer(carol, 0, { ...large(15n), data: new Uint8Array(5_000) })), {
      code: "POOL_UNDERPRICED",
    });
    assert.deepEqual(removed, []);
    pool.add(transfer(carol, 0, large(15n)));
    assert.deepEqual(removed, [
      [2n, "evicted"],
      [1n, "evicted"],
    ]);
    assert.throws(
      () => pool.add(transfer(carol, 1, { ...large(99n), data: new Uint8Array(20_000), gasLimit: 900_000n })),
      { code: "POOL_FULL" },
    );
    assert.deepEqual(pool.counts(), { pending: 3, queued: 0 });
  });

  test("remove takes one transaction out for the reason given; pending ones after it are queued", () => {
    const { pool, removed } = fullPool();
    const [, second] = pool.contentFrom(alice).pending;
    assert.equal(pool.remove(second!.tx.hash, "quarantined"), true);
    assert.equal(pool.remove(second!.tx.hash, "quarantined"), false);
    assert.deepEqual(removed, [[1n, "quarantined"]]);
    assert.deepEqual(standing(pool), { pending: [0], queued: [2] });
    assert.equal(pool.nonceOf(alice), 1n);
  });

  test("a used nonce is told from an included transaction", () => {
    const { pool, state, removed } = fullPool();
    const [first] = pool.contentFrom(alice).pending;
    state.set(alice, { nonce: 2n });
    pool.onHead({
      header: testHeader({ number: 2 }),
      state,
      changed: [alice],
      included: [first!.tx.hash],
    });
    assert.deepEqual(removed, [
      [0n, "included"],
      [1n, "superseded"],
    ]);
  });
});

describe("EIP-7702", () => {
  const setCode = (sender: number, nonce: number, authorities: readonly number[]) =>
    signTransaction(
      {
        ...transferFields,
        type: 4,
        nonce: BigInt(nonce),
        gasLimit: 500_000n,
        authorizationList: authorities.map((index) =>
          signAuthorization({ chainId: CHAIN_ID, address: ZERO_ADDRESS, nonce: 0n }, testKey(index)),
        ),
      },
      testKey(sender),
    );

  test("a delegated account has one transaction in flight, without gap", () => {
    const { pool, state } = poolWithAccounts();
    state.set(alice, { codeHash: `0x${"12".repeat(32)}` as Hash });
    assert.throws(
      () => pool.add(transfer(alice, 1)),
      rejection("POOL_DELEGATED_NONCE_GAP", "gapped-nonce tx from delegated accounts"),
    );
    pool.add(transfer(alice, 0));
    assert.throws(
      () => pool.add(transfer(alice, 1)),
      rejection("POOL_DELEGATED_ACCOUNT_LIMIT", "in-flight transaction limit reached for delegated accounts"),
    );
    pool.add(transfer(alice, 0, { maxFeePerGas: 200n * GWEI, maxPriorityFeePerGas: 2n * GWEI }));
  });

  test("an account whose authorization is pooled counts as delegated until it leaves", () => {
    const { pool, state } = poolWithAccounts();
    pool.add({ tx: setCode(1, 0, [0]) });
    pool.add(transfer(alice, 0));
    assert.throws(() => pool.add(transfer(alice, 1)), { code: "POOL_DELEGATED_ACCOUNT_LIMIT" });
    state.set(bob, { nonce: 1n });
    pool.onHead({ header: testHeader({ number: 2 }), state, changed: [bob] });
    pool.add(transfer(alice, 1));
  });

  test("an authority has at most one transaction pooled", () => {
    const { pool } = poolWithAccounts();
    pool.add(transfer(alice, 0));
    pool.add(transfer(alice, 1));
    assert.throws(
      () => pool.add({ tx: setCode(1, 0, [0]) }),
      rejection("POOL_AUTHORITY_RESERVED", "authority already reserved"),
    );
    pool.add({ tx: setCode(1, 0, [2]) });
  });
});

/** A blob transaction of alice's with one blob, and what goes with it. */
function blobSubmission(
  nonce: number,
  {
    fee = 100n * GWEI,
    sidecar = true,
    version = 1 as 0 | 1,
    key = 0,
    ...more
  }: {
    fee?: bigint;
    sidecar?: boolean;
    version?: 0 | 1;
    key?: number;
    maxFeePerBlobGas?: bigint;
    blobVersionedHashes?: readonly Hash[];
    proofs?: number;
  } = {},
): Submission {
  const commitment = new Uint8Array(48).fill(7);
  const { proofs = version === 1 ? 128 : 1, ...fields } = more;
  const tx = signTransaction(
    {
      ...transferFields,
      type: 3,
      nonce: BigInt(nonce),
      maxFeePerGas: fee,
      maxPriorityFeePerGas: fee / 100n,
      maxFeePerBlobGas: fee,
      blobVersionedHashes: [blobVersionedHash(commitment)],
      ...fields,
    },
    testKey(key),
  );
  const blobs: BlobSidecar = {
    wrapperVersion: version,
    blobs: [new Uint8Array(131_072)],
    commitments: [commitment],
    proofs: Array.from({ length: proofs }, () => new Uint8Array(48)),
  };
  return { tx, ...(sidecar && { sidecar: blobs }), isVerified: true };
}

describe("blob transactions", () => {
  const blobPool = (options: Parameters<typeof createTestPool>[0] = {}) => poolWithAccounts(options);

  test("a blob transaction is pending with its sidecar and out of the pool's content, as in geth", () => {
    const { pool, announced } = blobPool();
    const submission = blobSubmission(0);
    pool.add(submission);
    assert.deepEqual(pool.get(submission.tx.hash)?.sidecar, submission.sidecar);
    assert.deepEqual(pool.counts(), { pending: 1, queued: 0 });
    assert.equal(pool.content().pending.size, 0);
    assert.equal(pool.nonceOf(alice), 1n);
    assert.deepEqual(announced, [submission.tx.hash]);
    assert.throws(() => pool.add(submission), { code: "POOL_ALREADY_KNOWN" });
  });

  const wrong = `0x01${"ab".repeat(31)}`;
  for (const [name, options, code, message] of [
    ["no sidecar", { sidecar: false }, "POOL_MISSING_SIDECAR", "missing sidecar in blob transaction"],
    [
      "too many blobs, whatever its sidecar",
      { sidecar: false, blobVersionedHashes: new Array(7).fill(wrong) },
      "TX_TYPE_3_TX_BLOB_COUNT_EXCEEDED",
      "transaction blob limit exceeded: blob count 7, limit 6",
    ],
    [
      "no fee for blobs",
      { maxFeePerBlobGas: 0n },
      "POOL_GAS_PRICE_BELOW_MINIMUM",
      "transaction gas price below minimum: blob fee cap 0, minimum needed 1",
    ],
    [
      "a hash too many",
      { blobVersionedHashes: [wrong as Hash, wrong as Hash] },
      "POOL_SIDECAR_MISMATCH",
      "invalid number of 1 blobs compared to 2 blob hashes",
    ],
    [
      "another hash",
      { blobVersionedHashes: [wrong as Hash] },
      "POOL_SIDECAR_MISMATCH",
      `blob 0: computed hash ${blobVersionedHash(new Uint8Array(48).fill(7))} mismatches transaction one ${wrong}`,
    ],
    [
      "a sidecar of before Osaka",
      { version: 0 as const },
      "POOL_WRONG_SIDECAR_FORMAT",
      "Wrong sidecar format: unexpected sidecar version, want: 1, got: 0",
    ],
    [
      "a proof too few",
      { proofs: 127 },
      "POOL_WRONG_SIDECAR_FORMAT",
      "Wrong sidecar format: invalid number of 127 blob proofs expected 128",
    ],
  ] as const) {
    test(`add rejects a blob transaction with ${name}`, () => {
      const { pool } = blobPool();
      assert.throws(() => pool.add(blobSubmission(0, options)), rejection(code, message));
    });
  }

  test("add rejects blobs with unverified proofs", () => {
    const { pool } = blobPool();
    const { tx, sidecar } = blobSubmission(0);
    assert.throws(() => pool.add({ tx, ...(sidecar && { sidecar }) }), InvariantError);
    assert.equal(pool.get(tx.hash), undefined);
  });

  test("a replacement must double all three fees", () => {
    const { pool } = blobPool();
    pool.add(blobSubmission(0, { fee: 1000n }));
    assert.throws(
      () => pool.add(blobSubmission(0, { fee: 900n })),
      rejection(
        "POOL_REPLACEMENT_UNDERPRICED",
        "replacement transaction underpriced: new tx gas fee cap 900 <= 1000 queued",
      ),
    );
    assert.throws(
      () => pool.add(blobSubmission(0, { fee: 1999n })),
      rejection(
        "POOL_REPLACEMENT_UNDERPRICED",
        "replacement transaction underpriced: new tx gas fee cap 1999 < 1000 queued + 100% replacement penalty",
      ),
    );
    pool.add(blobSubmission(0, { fee: 2000n }));
    assert.deepEqual(pool.counts(), { pending: 1, queued: 0 });
  });

  test("an account is in one pool at a time", () => {
    const { pool } = blobPool();
    pool.add(blobSubmission(0));
    pool.add(transfer(bob, 0));
    const reserved = rejection("POOL_ADDRESS_RESERVED", "address already reserved");
    assert.throws(() => pool.add(transfer(alice, 1)), reserved);
    assert.throws(() => pool.add(blobSubmission(0, { key: 1 })), reserved);
  });

  test("a nonce gap is rejected for a new account and waits a minute for one with a history", () => {
    const { pool, state, clock } = blobPool();
    assert.throws(
      () => pool.add(blobSubmission(1)),
      rejection("TX_NONCE_MISMATCH_TOO_HIGH", "nonce too high: tx nonce 1, gapped nonce 0"),
    );
    state.set(alice, { nonce: 10n });
    pool.onHead({ header: testHeader({ number: 2 }), state });
    pool.add(blobSubmission(11));
    assert.deepEqual(pool.counts(), { pending: 0, queued: 0 });
    pool.add(blobSubmission(10));
    assert.deepEqual(pool.counts(), { pending: 2, queued: 0 });
    pool.add(blobSubmission(13));
    clock.now += 60_001;
    pool.removeStale();
    pool.add(blobSubmission(12));
    assert.equal(pool.nonceOf(alice), 13n);
  });

  test("an account keeps 16", () => {
    const { pool } = blobPool();
    for (let nonce = 0; nonce < 16; nonce++) pool.add(blobSubmission(nonce, { fee: GWEI }));
    assert.throws(
      () => pool.add(blobSubmission(16, { fee: GWEI })),
      rejection("POOL_ACCOUNT_LIMIT_EXCEEDED", "account limit exceeded: pooled 16 txs"),
    );
  });

  test("a new head removes included transactions and those that the balance no longer covers", () => {
    const { pool, state } = blobPool();
    for (const nonce of [0, 1, 2]) pool.add(blobSubmission(nonce, { fee: GWEI }));
    state.set(alice, { nonce: 1n, balance: 10n ** 15n });
    pool.onHead({ header: testHeader({ number: 2 }), state, changed: [alice] });
    assert.equal(pool.nonceOf(alice), 3n);
    state.set(alice, { balance: 3n * 10n ** 14n });
    pool.onHead({ header: testHeader({ number: 3 }), state, changed: [alice] });
    assert.equal(pool.nonceOf(alice), 2n);
    state.set(alice, { nonce: 9n });
    pool.onHead({ header: testHeader({ number: 4 }), state });
    assert.deepEqual(pool.counts(), { pending: 0, queued: 0 });
  });

  test("the memory of all of them is bounded: a newcomer pays a tenth more than the cheapest, or is rejected", () => {
    const size = memoryBytesOf(blobSubmission(0).tx, blobSubmission(0).sidecar);
    const { pool } = blobPool({ blobBytesMax: 2 * size + 100 });
    const removed: [address: Address, reason: RemovalReason][] = [];
    pool.onRemoved(({ sender }, reason) => removed.push([sender, reason]));
    pool.add(blobSubmission(0, { fee: 200n * GWEI }));
    pool.add(blobSubmission(0, { fee: 100n * GWEI, key: 1 }));
    const newcomer = (fee: bigint) => blobSubmission(0, { fee, key: 2 });
    assert.throws(() => pool.add(newcomer(100n * GWEI)), { code: "POOL_UNDERPRICED" });
    assert.throws(() => pool.add(newcomer(105n * GWEI)), { code: "POOL_FULL" });
    assert.throws(() => pool.add(blobSubmission(1, { fee: 50n * GWEI, key: 0 })), {
      code: "POOL_UNDERPRICED",
    });
    assert.deepEqual(removed, []);
    pool.add(newcomer(110n * GWEI));
    assert.deepEqual(removed, [[bob, "evicted"]]);
    assert.equal(pool.nonceOf(bob), 0n);
    assert.deepEqual(pool.counts(), { pending: 2, queued: 0 });
    assert.equal(pool.bytes().blobs, pool.bytes().all);
  });

  test("checkBlob makes every check except that of the proofs, and lets version 0 pass for conversion", () => {
    const { pool } = blobPool();
    const check = (options: Parameters<typeof blobSubmission>[1]) =>
      pool.checkBlob(blobSubmission(0, options) as never);
    assert.equal(check({}), 1);
    assert.equal(check({ version: 0 }), 1);
    assert.throws(() => check({ version: 0, proofs: 128 }), { code: "POOL_WRONG_SIDECAR_FORMAT" });
    assert.throws(() => check({ fee: ETHER }), { code: "TX_INSUFFICIENT_ACCOUNT_FUNDS" });
    assert.throws(() => pool.checkBlob(blobSubmission(1) as never), {
      code: "TX_NONCE_MISMATCH_TOO_HIGH",
    });
    assert.deepEqual(pool.counts(), { pending: 0, queued: 0 });
    pool.add(blobSubmission(0));
    assert.deepEqual(pool.counts(), { pending: 1, queued: 0 });
  });
});

describe("pendingForBlock", () => {
  const limits = { baseFee: GWEI, minimumTip: 1n };

  test("takes the best tip first, each account's in order of nonce, ties by arrival", () => {
    const { pool } = poolWithAccounts();
    const price = (tip: bigint) => ({ maxPriorityFeePerGas: tip });
    const [a0, a1] = [transfer(alice, 0, price(5n)), transfer(alice, 1, price(50n))];
    const [b0, c0] = [transfer(bob, 0, price(9n)), transfer(carol, 0, price(9n))];
    for (const submission of [a1, c0, a0, b0]) pool.add(submission);
    const order = pool.pendingForBlock(limits);
    const taken: Hash[] = [];
    for (let best = order.peek(); best; best = order.peek()) {
      taken.push(best.tx.hash);
      order.next();
    }
    assert.deepEqual(
      taken,
      [c0, b0, a0, a1].map(({ tx }) => tx.hash),
    );
    order.next();
    assert.equal(order.peek(), undefined);
  });

  test("ends an account at a transaction that the base fee, the tip or the gas cap excludes, and at skipAccount", () => {
    const { pool } = poolWithAccounts();
    pool.add(transfer(alice, 0));
    pool.add(transfer(alice, 1, { maxFeePerGas: GWEI - 1n, maxPriorityFeePerGas: 3n }));
    pool.add(transfer(alice, 2));
    pool.add(transfer(bob, 0, { maxPriorityFeePerGas: 3n, gasLimit: 5_000_000n }));
    const all = (more: object) => {
      const order = pool.pendingForBlock({ ...limits, ...more });
      let count = 0;
      for (; order.peek(); order.next()) count++;
      return count;
    };
    assert.equal(all({}), 2);
    assert.equal(all({ baseFee: 0n }), 4);
    assert.equal(all({ minimumTip: 4n }), 1);
    assert.equal(all({ txGasLimitMax: 1_000_000n }), 1);
    assert.equal(all({ minimumTip: 0n }), 2);
    const order = pool.pendingForBlock({ ...limits, baseFee: 0n });
    order.skipAccount();
    assert.equal(order.peek()?.sender, bob);
    order.skipAccount();
    assert.equal(order.peek(), undefined);
  });

  test("mixes in blob transactions whose blob fee covers the block's, plain ones first among equals", () => {
    const { pool } = poolWithAccounts();
    pool.add(blobSubmission(0));
    pool.add(transfer(bob, 0, { maxPriorityFeePerGas: GWEI }));
    const first = (blobBaseFee?: bigint) => {
      const order = pool.pendingForBlock({ ...limits, blobBaseFee });
      const types = [];
      for (; order.peek(); order.next()) types.push(order.peek()?.tx.type);
      return types;
    };
    assert.deepEqual(first(1n), [2, 3]);
    assert.deepEqual(first(), [2]);
    assert.deepEqual(first(101n * GWEI), [2]);
  });
});
