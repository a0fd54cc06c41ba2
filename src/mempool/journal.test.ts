import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../../test/support/fast-check.ts";
import { encodeRlp } from "../primitives/rlp.ts";
import type { LogDirectory } from "../storage/log-file.ts";
import { createMemoryLogDirectory } from "../storage/memory-log-directory.ts";
import { createFaultyDisk } from "../storage/testing/faulty-disk.ts";
import { PoolJournal } from "./journal.ts";

/** Network forms by their shape alone: a list is a legacy transaction, anything else begins with its type. */
const legacy = fc
  .array(fc.uint8Array({ maxLength: 70 }), { maxLength: 9 })
  .map((items) => encodeRlp(items));
const typed = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.uint8Array({ maxLength: 300 }))
  .map(([type, rest]) => Uint8Array.from([type, ...rest]));
const transactions = fc.array(fc.oneof(legacy, typed), { maxLength: 12 });

const NONE = () => [];
const arrays = (list: readonly Uint8Array[]) => list.map((bytes) => Array.from(bytes));

/** What a later start finds. */
function kept(directory: LogDirectory) {
  const { transactions: found, lostBytes } = new PoolJournal(directory, NONE).read();
  return { transactions: arrays(found), lostBytes };
}

describe("PoolJournal", () => {
  test("gives back what was appended and not taken back, in order", () => {
    const steps = fc.array(fc.tuple(fc.oneof(legacy, typed), fc.boolean()), { maxLength: 20 });
    fc.assert(
      fc.property(steps, (list) => {
        const directory = createMemoryLogDirectory();
        const journal = new PoolJournal(directory, NONE);
        for (const [transaction, isTakenBack] of list) {
          const undo = journal.append(transaction);
          if (isTakenBack) undo();
        }
        const wanted = list.filter(([, isTakenBack]) => !isTakenBack).map(([bytes]) => bytes);
        // The last one taken back may still be read: nobody was told that it is kept.
        assert.deepEqual(kept(directory).transactions.slice(0, wanted.length), arrays(wanted));
      }),
    );
  });

  test("gives back all but the torn last one, wherever a write ends", () => {
    fc.assert(
      fc.property(transactions, typed, fc.nat(), (list, last, cut) => {
        const directory = createMemoryLogDirectory();
        const journal = new PoolJournal(directory, NONE);
        for (const transaction of list) journal.append(transaction);
        const whole = journal.size;
        journal.append(last);
        const [name] = directory.list();
        const end = whole + (cut % (journal.size - whole));
        directory.open(name!).truncate(end);
        assert.deepEqual(kept(directory), { transactions: arrays(list), lostBytes: end - whole });
      }),
    );
  });

  test("begins anew with what waits, and grows no further than twice that", () => {
    const directory = createMemoryLogDirectory();
    const waiting = [Uint8Array.of(2, 1), Uint8Array.of(2, 2)];
    const journal = new PoolJournal(directory, () => waiting);
    const transaction = new Uint8Array(100_000).fill(3);
    let largest = 0;
    for (let count = 0; count < 100; count++) {
      journal.append(transaction);
      largest = Math.max(largest, journal.size);
    }
    assert.ok(largest < 1_300_000, `${largest} bytes`);
    assert.equal(directory.list().length, 1);
    journal.rewrite();
    assert.deepEqual(kept(directory), { transactions: arrays(waiting), lostBytes: 0 });
  });

  test("keeps the old file until the new one is whole", () => {
    const { directory, failWriteAfter, heal } = createFaultyDisk();
    const journal = new PoolJournal(directory, () => [Uint8Array.of(1, 1)]);
    journal.append(Uint8Array.of(1, 2));
    failWriteAfter(0);
    assert.throws(() => journal.rewrite(), { code: "POOL_JOURNAL_WRITE" });
    assert.equal(directory.list().length, 1);
    heal();
    journal.append(Uint8Array.of(1, 3));
    assert.deepEqual(kept(directory).transactions, [
      [1, 1],
      [1, 2],
      [1, 3],
    ]);
  });

  test("refuses what it cannot keep, and goes on once it can", () => {
    const { directory, failWriteAfter, heal } = createFaultyDisk();
    const journal = new PoolJournal(directory, NONE);
    journal.append(Uint8Array.of(1, 2, 3, 4));
    failWriteAfter(1);
    assert.throws(() => journal.append(new Uint8Array(200).fill(2)), {
      code: "POOL_JOURNAL_WRITE",
    });
    heal();
    journal.append(Uint8Array.of(4, 3, 2, 1));
    assert.deepEqual(kept(directory).transactions.slice(0, 2), [
      [1, 2, 3, 4],
      [4, 3, 2, 1],
    ]);
  });
});
