import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  createTestPool,
  ETHER,
  GWEI,
  setCodeTransaction,
  testAccount,
  testHeader,
  transfer,
} from "../../../test/support/consensus/mempool/pool-fixture.ts";
import { createFaultyDisk } from "../../../test/support/store/storage/faulty-disk.ts";
import { ADDRESS_LENGTH, addressToBytes } from "../../base/primitives/address.ts";
import { SILENT_LOGGER } from "../../base/telemetry/logger.ts";
import type { LogDirectory } from "../../store/storage/log/log-file.ts";
import { createMemoryLogDirectory } from "../../store/storage/log/memory-log-directory.ts";
import { encodeAdded } from "./journal.ts";
import { type JournaledPool, journalPool } from "./journaled-pool.ts";
import type { Mempool } from "./mempool.ts";

const [alice, bob] = [testAccount(0), testAccount(1)];

type Started = ReturnType<typeof createTestPool> & { readonly journaled: JournaledPool };

/** A start of the node on `directory`, in which alice and bob have an ether each. */
function start(
  directory = createMemoryLogDirectory(),
  options: Parameters<typeof createTestPool>[0] = {},
  { keepsRejected = false, funded = [alice, bob] } = {},
): Started {
  const fixture = createTestPool(options);
  for (const account of funded) fixture.state.set(account, { balance: ETHER });
  return { ...fixture, journaled: journalPool(fixture.pool, { directory, keepsRejected, log: SILENT_LOGGER }) };
}

/** What a kill would leave now. */
function copyOf(directory: LogDirectory): LogDirectory {
  const copy = createMemoryLogDirectory();
  for (const name of directory.list()) {
    const file = directory.open(name);
    const bytes = new Uint8Array(file.size());
    file.read(bytes, 0);
    copy.open(name).write(bytes, 0);
  }
  return copy;
}

const hashes = (pool: Mempool) => [...pool.all()].map(({ tx }) => tx.hash).sort();

describe("journalPool", () => {
  test("waiting transactions are pooled again at the next start, with their senders and without recovery", () => {
    const directory = createMemoryLogDirectory();
    const { pool } = start(directory);
    for (const nonce of [0, 1, 3]) pool.add(transfer(alice, nonce));
    const again = start(directory);
    // The signatures of the fixture are nobody's: a sender that were recovered would be rejected.
    assert.deepEqual(hashes(again.pool), hashes(pool));
    assert.equal(again.journaled.restoreResult.restored, 3);
    assert.deepEqual(again.pool.counts(), { pending: 2, queued: 1 });
  });

  test("authorizations are stored with their signers, which are not recovered again", () => {
    const directory = createMemoryLogDirectory();
    start(directory);
    const tx = setCodeTransaction({ authorizations: 3 });
    // The number of signers, and of three the second one alone.
    const signers = Buffer.alloc(2 + 3 * ADDRESS_LENGTH);
    signers.writeUInt16LE(3);
    signers.set(addressToBytes(bob), 2 + ADDRESS_LENGTH);
    const file = directory.open(directory.list()[0]!);
    file.write(encodeAdded(alice, tx.raw, signers), file.size());
    const { pool, journaled } = start(directory);
    assert.equal(journaled.restoreResult.restored, 1);
    pool.add(transfer(bob, 0));
    // As the record says, and not as the signatures would.
    assert.throws(() => pool.add(transfer(bob, 1)), { code: "POOL_DELEGATED_ACCOUNT_LIMIT" });
  });

  test("a journal that is restored completely is continued, any other one is rewritten", () => {
    const directory = createMemoryLogDirectory();
    start(directory).pool.add(transfer(alice, 0));
    const files = directory.list();
    const second = start(directory);
    assert.deepEqual(directory.list(), files);
    second.pool.add(transfer(alice, 1));
    const third = start(directory);
    assert.deepEqual(directory.list(), files);
    assert.deepEqual(hashes(third.pool), hashes(second.pool));
    third.pool.remove(hashes(third.pool)[0]!, "quarantined");
    const fourth = start(directory);
    assert.notDeepEqual(directory.list(), files);
    assert.deepEqual(hashes(fourth.pool), hashes(third.pool));
  });

  test("transactions of blocks that are gone are not pooled again at the next start", () => {
    const directory = createMemoryLogDirectory();
    const { pool, state, journaled } = start(directory);
    for (const nonce of [0, 1]) pool.add(transfer(alice, nonce));
    state.set(alice, { balance: ETHER, nonce: 1n });
    pool.onHead({ header: testHeader(), state, changed: [alice] });
    state.set(alice, { balance: ETHER });
    pool.onHead({ header: testHeader(), state, changed: [alice] });
    journaled.forgetIncluded();
    assert.equal(hashes(pool).length, 1);
    assert.deepEqual(hashes(start(directory).pool), hashes(pool));
  });

  test("transactions of removed blocks are struck out in the journal's file, and count when they are sent again", () => {
    const directory = createMemoryLogDirectory();
    const { pool, state, journaled } = start(directory);
    const again = transfer(alice, 0);
    for (const submission of [again, transfer(bob, 5)]) pool.add(submission);
    const files = directory.list();
    const includeFirst = () => {
      state.set(alice, { balance: ETHER, nonce: 1n });
      pool.onHead({ header: testHeader(), state, changed: [alice], included: [again.tx.hash] });
      state.set(alice, { balance: ETHER, nonce: 0n });
      pool.onHead({ header: testHeader(), state, changed: [alice] });
      journaled.forgetIncluded();
    };
    includeFirst();
    assert.deepEqual(hashes(start(copyOf(directory)).pool), hashes(pool));
    pool.add(again);
    assert.deepEqual(hashes(start(copyOf(directory)).pool), hashes(pool));
    assert.equal(hashes(pool).length, 2);
    const bytes = journaled.journalBytes();
    journaled.forgetIncluded();
    assert.equal(journaled.journalBytes(), bytes);
    includeFirst();
    assert.deepEqual(hashes(start(copyOf(directory)).pool), hashes(pool));
    assert.deepEqual(directory.list(), files);
  });

  test("a rejected transaction is not in the journal", () => {
    const directory = createMemoryLogDirectory();
    const { pool } = start(directory);
    const tooDear = transfer(alice, 0, { value: 2n * ETHER });
    assert.throws(() => pool.add(tooDear), { code: "TX_INSUFFICIENT_ACCOUNT_FUNDS" });
    const again = createTestPool();
    again.state.set(alice, { balance: 5n * ETHER });
    journalPool(again.pool, { directory, log: SILENT_LOGGER });
    assert.deepEqual(hashes(again.pool), []);
  });

  test("a transaction that the pool rejects at the start is dropped and counted by its reason", () => {
    const directory = createMemoryLogDirectory();
    const { pool } = start(directory);
    pool.add(transfer(alice, 0));
    pool.add(transfer(alice, 1));
    pool.add(transfer(bob, 0, { value: ETHER / 2n }));
    const next = createTestPool();
    next.state.set(alice, { balance: ETHER, nonce: 1n });
    next.state.set(bob, { balance: ETHER / 4n });
    const { restoreResult } = journalPool(next.pool, { directory, log: SILENT_LOGGER });
    assert.equal(restoreResult.restored, 1);
    assert.deepEqual(
      [...restoreResult.rejected],
      [
        ["TX_NONCE_MISMATCH_TOO_LOW", 1],
        ["TX_INSUFFICIENT_ACCOUNT_FUNDS", 1],
      ],
    );
    // It is not offered a third time.
    assert.equal(start(directory).journaled.restoreResult.rejected.size, 0);
  });

  test("transactions that an unchecked state rejects stay in the journal until the state is confirmed", () => {
    const directory = createMemoryLogDirectory();
    const { pool } = start(directory);
    for (const account of [alice, bob]) pool.add(transfer(account, 0));
    const unchecked = start(directory, {}, { keepsRejected: true, funded: [alice] });
    assert.deepEqual(unchecked.pool.counts(), { pending: 1, queued: 0 });
    unchecked.pool.add(transfer(alice, 1));
    assert.equal(start(copyOf(directory)).journaled.restoreResult.restored, 3);
    unchecked.journaled.forgetRejected();
    assert.equal(start(directory).journaled.restoreResult.restored, 2);
  });

  test("records that hold no transaction are counted, the others restored", () => {
    const directory = createMemoryLogDirectory();
    const { pool } = start(directory);
    pool.add(transfer(alice, 0));
    const file = directory.open(directory.list()[0]!);
    file.write(encodeAdded(alice, Uint8Array.of(0xc3, 1, 2, 3)), file.size());
    file.write(Uint8Array.of(1, 2, 3), file.size());
    const { restoreResult } = start(directory).journaled;
    assert.equal(restoreResult.restored, 1);
    assert.equal(restoreResult.undecodable, 1);
    assert.equal(restoreResult.lostBytes, 3);
  });

  test("removed transactions are not restored, unless their nonce decides anyway", () => {
    const directory = createMemoryLogDirectory();
    const { pool, state, clock } = start(directory);
    const [quarantined, expired, replaced, better, included] = [
      transfer(alice, 0),
      transfer(bob, 9),
      transfer(bob, 1),
      transfer(bob, 1, { maxFeePerGas: 200n * GWEI, maxPriorityFeePerGas: 2n * GWEI }),
      transfer(bob, 0),
    ];
    for (const submission of [quarantined, expired, replaced, better]) pool.add(submission);
    assert.equal(pool.remove(quarantined.tx.hash, "quarantined"), true);
    assert.equal(pool.remove(quarantined.tx.hash, "quarantined"), false);
    clock.now += 4 * 3_600_000;
    pool.removeStale();
    pool.add(included);
    state.set(bob, { nonce: 1n });
    pool.onHead({ header: testHeader({ number: 2 }), state, included: [included.tx.hash] });
    // Sent once more after its removal, it counts.
    pool.add(expired);
    const again = createTestPool();
    again.state.set(alice, { balance: ETHER });
    again.state.set(bob, { balance: ETHER, nonce: 0n });
    journalPool(again.pool, { directory, log: SILENT_LOGGER });
    assert.deepEqual(hashes(again.pool), [expired.tx.hash, included.tx.hash].sort());
  });

  test("a transaction is rejected, and nothing is evicted for it, while the journal cannot be written", () => {
    const { directory, failWriteAfter, heal } = createFaultyDisk();
    const { pool, journaled } = start(directory);
    pool.add(transfer(alice, 0));
    const before = hashes(pool);
    failWriteAfter(0);
    assert.throws(() => pool.add(transfer(bob, 0)), { code: "POOL_JOURNAL_WRITE" });
    assert.deepEqual(hashes(pool), before);
    assert.equal(journaled.writeFailures(), 1);
    heal();
    pool.add(transfer(bob, 0));
    assert.deepEqual(hashes(start(directory).pool), hashes(pool));
  });
});
