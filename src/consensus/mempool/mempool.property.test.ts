import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createTestPool,
  ETHER,
  type FakeState,
  GWEI,
  testAccount,
  testHeader,
  transfer,
} from "../../../test/support/consensus/mempool/pool-fixture.ts";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { costOf } from "../../base/types/transaction/fees.ts";
import { TransactionRejectedError } from "./admission.ts";
import { memoryBytesOf } from "./entry.ts";
import type { Mempool } from "./mempool.ts";
import type { RemovalReason, Submission } from "./pool.ts";

const ACCOUNTS = [0, 1, 2, 3].map(testAccount);

type Operation =
  | {
      readonly kind: "add";
      readonly account: number;
      readonly nonce: number;
      readonly price: number;
      readonly value: number;
      readonly size: number;
    }
  | {
      readonly kind: "head";
      readonly account: number;
      readonly nonces: number;
      readonly balance: number;
      readonly gasLimit: number;
      readonly all: boolean;
    }
  | { readonly kind: "minimumTip"; readonly tip: number }
  | { readonly kind: "time"; readonly ms: number };

const account = fc.nat(ACCOUNTS.length - 1);
const add = fc.record({
  kind: fc.constant("add" as const),
  account,
  nonce: fc.nat(12),
  price: fc.integer({ min: 1, max: 40 }),
  /** hundredths of an ether */
  value: fc.nat(40),
  size: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(70_000) }),
});
const operations = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: add },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("head" as const),
        account,
        nonces: fc.nat(3),
        balance: fc.nat(100),
        gasLimit: fc.integer({ min: 3_000_000, max: 3_000_005 }),
        all: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("minimumTip" as const),
        tip: fc.integer({ min: 1, max: 20 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("time" as const), ms: fc.nat(9_000_000) }),
    },
  ),
  { minLength: 5, maxLength: 80 },
);

/** Small enough that random operations run into every one of them. */
const LIMITS = { accountSlots: 5, accountQueue: 4, bytesMax: 30_000, queuedBytesMax: 12_000 };

function submissionOf(operation: Extract<Operation, { kind: "add" }>, base = 0n): Submission {
  const tip = BigInt(operation.price);
  return transfer(ACCOUNTS[operation.account]!, base + BigInt(operation.nonce), {
    maxPriorityFeePerGas: tip,
    maxFeePerGas: tip * GWEI,
    value: (BigInt(operation.value) * ETHER) / 100n,
    data: new Uint8Array(operation.size),
    gasLimit: 21_000n + 10n * BigInt(operation.size),
  });
}

test("pending transactions are executable, no limit is exceeded, and every accepted transaction is accounted for", () => {
  fc.assert(
    fc.property(operations, (steps) => {
      const { pool, state, clock } = createTestPool({
        ...LIMITS,
        header: { gasLimit: 3_000_005n },
      });
      for (const address of ACCOUNTS) state.set(address, { balance: ETHER });
      const announced = new Set<Hash>();
      const accepted = new Set<Hash>();
      const removed = new Map<Hash, RemovalReason>();
      pool.onRemoved(({ tx }, reason) => {
        assert.ok(!removed.has(tx.hash), "a transaction leaves once");
        removed.set(tx.hash, reason);
      });
      const added = new Set<Hash>();
      pool.onAdded((entries) => {
        for (const { tx } of entries) added.add(tx.hash);
      });
      pool.onPending((entries) => {
        for (const { tx } of entries) announced.add(tx.hash);
      });
      let number = 1;
      let gasLimit = 3_000_005n;
      for (const step of steps) {
        if (step.kind === "add") {
          const submission = submissionOf(step, state.account(ACCOUNTS[step.account]!)!.nonce);
          try {
            pool.add(submission);
            assert.ok(pool.get(submission.tx.hash), "what was accepted is pooled");
            accepted.add(submission.tx.hash);
          } catch (error) {
            assert.equal(pool.get(submission.tx.hash), undefined);
            assert.ok(error instanceof TransactionRejectedError, String(error));
          }
        } else if (step.kind === "head") {
          const address = ACCOUNTS[step.account]!;
          const { nonce } = state.account(address)!;
          state.set(address, {
            nonce: nonce + BigInt(step.nonces),
            balance: (ETHER * BigInt(step.balance)) / 100n,
          });
          gasLimit = BigInt(step.gasLimit);
          const header = testHeader({ number: ++number, gasLimit, gasUsed: BigInt(step.balance) });
          pool.onHead({ header, state, ...(!step.all && { changed: [address] }) });
        } else if (step.kind === "minimumTip") {
          pool.setMinimumTip(BigInt(step.tip));
        } else {
          clock.now += step.ms;
          pool.removeStale();
        }
        checkInvariants(pool, state, gasLimit, announced);
        assert.deepEqual(added, accepted);
        const pooled = new Set([...pool.all()].map(({ tx }) => tx.hash));
        for (const hash of accepted) {
          assert.notEqual(pooled.has(hash), removed.has(hash), "pooled, or removed for a reason");
        }
        for (const hash of pooled) assert.ok(accepted.has(hash));
      }
    }),
    { numRuns: 300 },
  );
});

function checkInvariants(pool: Mempool, state: FakeState, gasLimit: bigint, announced: ReadonlySet<Hash>): void {
  let pendingCount = 0;
  let queuedCount = 0;
  let bytes = 0;
  for (const address of ACCOUNTS) {
    const { pending, queued } = pool.contentFrom(address);
    const { nonce, balance } = state.account(address)!;
    for (const [index, { tx, sender }] of pending.entries()) {
      assert.equal(sender, address);
      assert.equal(tx.nonce, nonce + BigInt(index), "pending nonces follow the account's");
      assert.ok(costOf(tx) <= balance, "each pending transaction can be paid");
      assert.ok(tx.gasLimit <= gasLimit);
      assert.ok(announced.has(tx.hash), "what is pending was announced");
    }
    assert.equal(pool.nonceOf(address), nonce + BigInt(pending.length));
    let last = pool.nonceOf(address);
    for (const { tx } of queued) {
      assert.ok(tx.nonce > last, "queued nonces ascend behind a gap");
      last = tx.nonce;
    }
    // An account at both limits may close its gap, or lose an earlier nonce.
    assert.ok(pending.length + queued.length <= LIMITS.accountSlots + LIMITS.accountQueue);
    for (const entry of [...pending, ...queued]) {
      assert.equal(pool.get(entry.tx.hash)?.tx, entry.tx);
      bytes += memoryBytesOf(entry.tx, undefined);
    }
    pendingCount += pending.length;
    queuedCount += queued.length;
  }
  assert.deepEqual(pool.counts(), { pending: pendingCount, queued: queuedCount });
  assert.equal(pool.bytes().all, bytes);
  assert.ok(bytes <= LIMITS.bytesMax);
  checkBlockOrder(pool, pendingCount);
}

/** Every pending transaction comes once, none before a lower nonce of its account. */
function checkBlockOrder(pool: Mempool, pendingCount: number): void {
  const order = pool.pendingForBlock({ baseFee: 0n, minimumTip: 0n });
  const next = new Map<Address, bigint>();
  let count = 0;
  for (let best = order.peek(); best; best = order.peek()) {
    const { tx, sender } = best;
    assert.equal(tx.nonce, next.get(sender) ?? tx.nonce);
    next.set(sender, tx.nonce + 1n);
    count++;
    order.next();
  }
  assert.equal(count, pendingCount);
}

test("below its limits the pool agrees with a plain model", () => {
  fc.assert(
    fc.property(fc.array(add, { maxLength: 60 }), (adds) => {
      const { pool, state } = createTestPool({ header: { gasLimit: 3_000_000n } });
      for (const address of ACCOUNTS) state.set(address, { balance: 1_000_000n * ETHER });
      const model = new Map<Address, Map<bigint, Submission>>();
      for (const step of adds) {
        const submission = submissionOf(step);
        const byNonce = model.get(submission.sender!) ?? new Map<bigint, Submission>();
        const old = byNonce.get(submission.tx.nonce);
        const isTaken = !old || satisfiesPriceBump(submission, old);
        if (isTaken) {
          pool.add(submission);
          byNonce.set(submission.tx.nonce, submission);
          model.set(submission.sender!, byNonce);
        } else {
          assert.throws(() => pool.add(submission), { code: "POOL_REPLACEMENT_UNDERPRICED" });
        }
      }
      for (const address of ACCOUNTS) {
        const byNonce = model.get(address) ?? new Map<bigint, Submission>();
        let next = 0n;
        while (byNonce.has(next)) next++;
        const sorted = [...byNonce.values()].map(({ tx }) => tx).sort((a, b) => Number(a.nonce - b.nonce));
        const { pending, queued } = pool.contentFrom(address);
        assert.deepEqual(
          pending.map(({ tx }) => tx.hash),
          sorted.filter(({ nonce }) => nonce < next).map(({ hash }) => hash),
        );
        assert.deepEqual(
          queued.map(({ tx }) => tx.hash),
          sorted.filter(({ nonce }) => nonce > next).map(({ hash }) => hash),
        );
      }
    }),
    { numRuns: 100 },
  );
});

/** The replacement rule in the words of the documentation: both fees up by 10 %, at least by 1 wei. */
function satisfiesPriceBump({ tx: next }: Submission, { tx: old }: Submission): boolean {
  if (next.type !== 2 || old.type !== 2) return false;
  return (["maxFeePerGas", "maxPriorityFeePerGas"] as const).every(
    (fee) => next[fee] > old[fee] && next[fee] >= (old[fee] * 11n) / 10n,
  );
}
