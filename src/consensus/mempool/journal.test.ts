import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setCodeTransaction, testAccount, transfer } from "../../../test/support/consensus/mempool/pool-fixture.ts";
import fc from "../../../test/support/fast-check.ts";
import { createFaultyDisk } from "../../../test/support/store/storage/faulty-disk.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { encodeRlp } from "../../base/primitives/rlp.ts";
import type { LogDirectory } from "../../store/storage/log/log-file.ts";
import { createMemoryLogDirectory } from "../../store/storage/log/memory-log-directory.ts";
import type { JournalRecord } from "./journal.ts";
import { PoolJournal } from "./journal.ts";
import type { PooledTransaction } from "./pool.ts";

const alice = testAccount(0);
const NONE = () => [];

/** A transaction that takes some `bytes` of a journal. */
function transaction(nonce: number, bytes = 0): PooledTransaction {
  return transfer(alice, nonce, { data: new Uint8Array(bytes) });
}

const transactions = fc
  .array(fc.nat(300), { maxLength: 12 })
  .map((sizes) => sizes.map((bytes, nonce) => transaction(nonce, bytes)));

const added = ({ tx, sender }: PooledTransaction) => ({
  kind: "added",
  transaction: Array.from(tx.raw),
  sender,
});
const plain = (record: JournalRecord) =>
  record.kind === "removed" ? record : { ...record, transaction: Array.from(record.transaction) };

/** What a later start finds. */
function stored(directory: LogDirectory) {
  const { records, lostBytes } = new PoolJournal(directory, NONE).read();
  return { records: records.map(plain), lostBytes };
}

/** The bytes of the only file. */
function fileOf(directory: LogDirectory) {
  const [name, ...others] = directory.list();
  assert.equal(others.length, 0);
  return directory.open(name!);
}

describe("PoolJournal", () => {
  test("reads back additions with their senders and removals, in order", () => {
    const steps = fc.array(fc.tuple(fc.nat(300), fc.boolean()), { maxLength: 20 });
    fc.assert(
      fc.property(steps, (list) => {
        const directory = createMemoryLogDirectory();
        const journal = new PoolJournal(directory, NONE);
        const wanted: unknown[] = [];
        for (const [nonce, [bytes, isRemoved]] of list.entries()) {
          const pooled = transaction(nonce, bytes);
          journal.append(pooled);
          wanted.push(added(pooled));
          if (!isRemoved) continue;
          journal.appendRemoval(pooled.tx.hash);
          wanted.push({ kind: "removed", hashes: [pooled.tx.hash] });
        }
        assert.deepEqual(stored(directory), { records: wanted, lostBytes: 0 });
      }),
    );
  });

  test("reads back who signed authorizations", () => {
    const directory = createMemoryLogDirectory();
    const signed = setCodeTransaction({ authorizations: 3 });
    const highS = { ...signed.authorizationList[1]!, s: 2n ** 256n - 1n };
    const tx = { ...signed, authorizationList: signed.authorizationList.with(1, highS) };
    const journal = new PoolJournal(directory, () => [{ tx, sender: alice }]);
    const record = { ...added({ tx, sender: alice }), authorities: [testAccount(100), undefined, testAccount(102)] };
    journal.append({ tx, sender: alice });
    // As the file begins with what is pooled.
    assert.deepEqual(stored(directory), { records: [record, record], lostBytes: 0 });
    fileOf(directory).truncate(journal.size - 1);
    assert.equal(stored(directory).records.length, 1);
  });

  test("reads back all but the torn last record, wherever a write ends", () => {
    fc.assert(
      fc.property(transactions, fc.nat(), (list, cut) => {
        const directory = createMemoryLogDirectory();
        const journal = new PoolJournal(directory, NONE);
        for (const pooled of list) journal.append(pooled);
        const whole = journal.size;
        journal.append(transaction(99, 50));
        const end = whole + (cut % (journal.size - whole));
        fileOf(directory).truncate(end);
        assert.deepEqual(stored(directory), { records: list.map(added), lostBytes: end - whole });
      }),
    );
  });

  test("a flipped bit costs at most one record, and the others read as written", () => {
    fc.assert(
      fc.property(transactions, fc.nat(), fc.nat(7), (list, at, bit) => {
        fc.pre(list.length > 0);
        const directory = createMemoryLogDirectory();
        const journal = new PoolJournal(directory, NONE);
        for (const pooled of list) journal.append(pooled);
        const file = fileOf(directory);
        const position = at % file.size();
        const byte = new Uint8Array(1);
        file.read(byte, position);
        file.write(Uint8Array.of(byte[0]! ^ (1 << bit)), position);
        const { records, lostBytes } = stored(directory);
        const written = new Set(list.map(({ tx }) => bytesToHex(tx.raw)));
        assert.ok(lostBytes > 0);
        assert.ok(records.length < list.length);
        for (const record of records) {
          assert.ok(record.kind === "added" && record.sender === alice);
          assert.ok(written.has(bytesToHex(Uint8Array.from(record.transaction))));
        }
      }),
    );
  });

  test("a new file begins with the pool's content and grows no further than twice that", () => {
    const directory = createMemoryLogDirectory();
    const content = [transaction(0), transaction(1)];
    const journal = new PoolJournal(directory, () => content);
    const large = transaction(2, 100_000);
    let largest = 0;
    for (let count = 0; count < 100; count++) {
      journal.append(large);
      largest = Math.max(largest, journal.size);
    }
    assert.ok(largest < 1_300_000, `${largest} bytes`);
    assert.equal(directory.list().length, 1);
    journal.rewrite();
    assert.deepEqual(stored(directory), { records: content.map(added), lostBytes: 0 });
  });

  test("forgetting used transactions removes them in the same file", () => {
    const directory = createMemoryLogDirectory();
    const [first, second, third] = [transaction(0), transaction(1), transaction(2)];
    const journal = new PoolJournal(directory, NONE);
    const additions = [first, second, third].map(added);
    for (const pooled of [first, second, third]) journal.append(pooled);
    const files = directory.list();
    for (const { tx } of [first, third]) journal.noteUsed(tx.hash);
    assert.deepEqual(stored(directory).records, additions);
    for (let count = 0; count < 2; count++) {
      journal.forgetUsed();
      const removal = { kind: "removed", hashes: [first.tx.hash, third.tx.hash] };
      assert.deepEqual(stored(directory).records, [...additions, removal]);
    }
    assert.deepEqual(directory.list(), files);
  });

  test("a new file begins if the removals would not fit", () => {
    const directory = createMemoryLogDirectory();
    const content = [transaction(7)];
    const journal = new PoolJournal(directory, () => content);
    const used = transaction(0, 100_000);
    while (journal.size < 1_000_000) journal.append(used);
    const files = directory.list();
    for (let count = 0; count < 5_000; count++) journal.noteUsed(used.tx.hash);
    journal.forgetUsed();
    assert.notDeepEqual(directory.list(), files);
    assert.deepEqual(stored(directory).records, content.map(added));
  });

  test("a failed removal is retried the next time", () => {
    const { directory, failWriteAfter, heal } = createFaultyDisk();
    const first = transaction(0);
    const journal = new PoolJournal(directory, NONE);
    journal.append(first);
    journal.noteUsed(first.tx.hash);
    failWriteAfter(1);
    assert.throws(() => journal.forgetUsed(), { code: "POOL_JOURNAL_WRITE" });
    heal();
    journal.forgetUsed();
    assert.deepEqual(stored(directory), {
      records: [added(first), { kind: "removed", hashes: [first.tx.hash] }],
      lostBytes: 0,
    });
  });

  test("the old file stays until the new one is complete", () => {
    const { directory, failWriteAfter, heal } = createFaultyDisk();
    const [first, second, third] = [transaction(0), transaction(1), transaction(2)];
    const journal = new PoolJournal(directory, () => [first!]);
    journal.append(second);
    failWriteAfter(0);
    assert.throws(() => journal.rewrite(), { code: "POOL_JOURNAL_WRITE" });
    assert.equal(directory.list().length, 1);
    heal();
    journal.append(third);
    assert.deepEqual(stored(directory).records, [first, second, third].map(added));
  });

  test("a failed write leaves no part of its record, and later records are stored", () => {
    const sizes = fc.record({ large: fc.nat(2_000), failAfter: fc.nat(110) });
    fc.assert(
      fc.property(sizes, fc.boolean(), ({ large, failAfter }, isResumed) => {
        const { directory, failWriteAfter, heal } = createFaultyDisk();
        const journal = new PoolJournal(directory, NONE);
        const [first, second] = [transaction(0), transaction(2)];
        journal.append(first);
        failWriteAfter(failAfter);
        const rejected = transaction(1, large);
        let wanted = [first, rejected];
        try {
          journal.append(rejected);
        } catch (error) {
          assert.equal((error as { code?: string }).code, "POOL_JOURNAL_WRITE");
          wanted = [first];
        }
        heal();
        if (isResumed) {
          journal.append(second);
          wanted.push(second);
        }
        assert.deepEqual(stored(directory), { records: wanted.map(added), lostBytes: 0 });
      }),
    );
  });

  test("the journal of an earlier build, a row of RLP items, is read without senders", () => {
    const directory = createMemoryLogDirectory();
    const legacy = encodeRlp([Uint8Array.of(1), Uint8Array.of(2)]);
    const typed = Uint8Array.of(2, 0xc1, 5);
    const file = directory.open("000007.rlp");
    const items = [legacy, encodeRlp(typed), Uint8Array.of(0xb8)];
    file.write(Buffer.concat(items), 0);
    assert.deepEqual(stored(directory), {
      records: [legacy, typed].map((bytes) => ({
        kind: "added",
        transaction: Array.from(bytes),
        sender: undefined,
      })),
      lostBytes: 1,
    });
    const journal = new PoolJournal(directory, NONE);
    journal.read();
    journal.rewrite();
    assert.deepEqual(directory.list(), ["000008.journal"]);
  });
});
