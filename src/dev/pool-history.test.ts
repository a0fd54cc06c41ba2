import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestPool, testAccount, transfer } from "../../test/support/consensus/mempool/pool-fixture.ts";
import fc from "../../test/support/fast-check.ts";
import type { Mempool } from "../consensus/mempool/mempool.ts";
import { type PoolChanges, PoolHistory, storedForm } from "./pool-history.ts";

const ACCOUNTS = [0, 1, 2].map(testAccount);

function fullPool(transactions: number) {
  const { pool, state } = createTestPool();
  for (const account of ACCOUNTS) state.set(account, { balance: 10n ** 30n });
  for (let i = 0; i < transactions; i++) pool.add(transfer(ACCOUNTS[i % 3]!, Math.floor(i / 3)));
  return pool;
}

const hashesOf = (pool: Mempool) => Array.from(pool.all(), ({ tx }) => tx.hash).sort();

/** As a journal gives them back. */
const restored = ({ added, removed }: PoolChanges): PoolChanges => ({
  added: new Map(Array.from(added, ([hash, transaction]) => [hash, storedForm(transaction)])),
  removed: new Map(Array.from(removed, ([hash, transaction]) => [hash, storedForm(transaction)])),
});

test("PoolHistory shares transactions with the pool, and a snapshot has what has changed since the one before it", () => {
  const pool = fullPool(60);
  const history = new PoolHistory(pool, []);
  const first = history.changes();
  assert.equal(first.added.size, 60);
  for (const [hash, transaction] of first.added)
    assert.equal("tx" in transaction && transaction.tx, pool.get(hash)!.tx);
  history.push(first);
  for (let i = 0; i < 1_000; i++) history.push(history.changes());
  assert.deepEqual(history.changes(), { added: new Map(), removed: new Map() });
  const gone = [...pool.all()][0]!;
  pool.remove(gone.tx.hash, "dropped");
  const { added, removed } = history.changes();
  assert.deepEqual([added.size, [...removed.keys()]], [0, [gone.tx.hash]]);
});

test("PoolHistory forgets what came and went between two snapshots", () => {
  const pool = fullPool(3);
  const history = new PoolHistory(pool, []);
  history.push(history.changes());
  for (let nonce = 10; nonce < 20; nonce++) {
    const submission = transfer(ACCOUNTS[0]!, nonce);
    pool.add(submission);
    pool.remove(submission.tx.hash, "dropped");
  }
  assert.deepEqual(history.changes(), { added: new Map(), removed: new Map() });
});

const STEP = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("add" as const), account: fc.nat(2), nonce: fc.nat(6) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), at: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("snapshot" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("revert" as const), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
);

test("PoolHistory has the pool be as it was at each snapshot, whatever happened since, and after a restart", () => {
  fc.assert(
    fc.property(fc.array(STEP, { minLength: 10, maxLength: 60 }), (steps) => {
      const pool = fullPool(4);
      let history = new PoolHistory(pool, []);
      const snapshots: { changes: PoolChanges; hashes: string[] }[] = [];
      let fee = 100n;
      for (const step of steps) {
        if (step.kind === "add") {
          // Each pays enough to replace the one before it.
          fee = (fee * 12n) / 10n;
          const fees = { maxFeePerGas: fee * 10n ** 9n, maxPriorityFeePerGas: fee * 10n ** 7n };
          pool.addAll([transfer(ACCOUNTS[step.account]!, step.nonce, fees)]);
        } else if (step.kind === "remove") {
          const hashes = hashesOf(pool);
          if (hashes.length > 0) pool.remove(hashes[step.at % hashes.length]!, "dropped");
        } else if (step.kind === "snapshot") {
          const changes = history.changes();
          history.push(changes);
          snapshots.push({ changes, hashes: hashesOf(pool) });
        } else if (step.kind === "restart") {
          history = new PoolHistory(
            pool,
            snapshots.map(({ changes }) => restored(changes)),
          );
        } else if (snapshots.length > 0) {
          const index = step.at % snapshots.length;
          history.revertTo(index);
          assert.deepEqual(hashesOf(pool), snapshots[index]!.hashes);
          snapshots.length = index;
        }
      }
      for (const [index, { hashes }] of [...snapshots.entries()].reverse()) {
        history.revertTo(index);
        assert.deepEqual(hashesOf(pool), hashes);
      }
    }),
  );
});
