import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { createMemoryKv } from "./memory-kv.ts";
import { appendVersions, decodePostingList, encodePostingList, versionAt, versionsUpTo } from "./posting-list.ts";
import { VersionedTable } from "./versioned-table.ts";

const KEYS = ["aa", "ab", "ba", "bb", "bc"].map((text) => Buffer.from(text));

/** A table whose log is a list of values, one a position; and every version of every key in a Map. */
class Harness {
  readonly kv = createMemoryKv();
  /** value by position; null: deleted there */
  readonly log: (Uint8Array | undefined)[] = [];
  readonly model = new Map<string, { number: number; value: Uint8Array | undefined }[]>();
  table: VersionedTable;
  number = 0;
  /** blocks whose versions are complete in the rows */
  merged = 0;
  #mergingTo: number | undefined;
  /** what every block changed: key and position */
  #blocks: { key: Uint8Array; position: number }[][] = [];

  constructor() {
    this.table = this.#createTable();
  }

  block(changes: ReadonlyMap<number, Uint8Array | undefined>): void {
    const number = this.number++;
    const rows = Array.from(changes, ([index, value]) => {
      this.log.push(value);
      return { key: KEYS[index]!, value, position: this.log.length - 1 };
    });
    for (const row of rows) {
      this.table.remember(number, row);
      const versions = this.model.get(row.key.toString()) ?? [];
      this.model.set(row.key.toString(), [...versions, { number, value: row.value }]);
    }
    this.#blocks.push(rows);
  }

  merge(keysMax: number): void {
    if (this.#mergingTo === undefined) {
      this.table.beginMerge();
      this.#mergingTo = this.number;
    }
    if (this.table.mergeSome(keysMax) > 0) return;
    this.merged = this.#mergingTo;
    this.#mergingTo = undefined;
  }

  rollback(number: number): void {
    const removed = this.#blocks.splice(number + 1);
    const keys = new Map(removed.flat().map(({ key }) => [Buffer.from(key).toString("latin1"), key]));
    this.kv.transaction(this.table.rollback(number, Array.from(keys.values())));
    for (const [key, versions] of this.model) {
      this.model.set(
        key,
        versions.filter((version) => version.number <= number),
      );
    }
    this.number = number + 1;
    this.merged = Math.min(this.merged, this.number);
    if (this.#mergingTo !== undefined) this.#mergingTo = Math.min(this.#mergingTo, this.number);
  }

  /** A new process: memory is gone, rows stay, the log is read again from where rows are complete. */
  reopen(): void {
    this.table = this.#createTable();
    this.#mergingTo = undefined;
    for (const [i, rows] of this.#blocks.slice(this.merged).entries()) {
      for (const row of rows) {
        this.table.remember(this.merged + i, { ...row, value: this.log[row.position] });
      }
    }
  }

  assertEqual(): void {
    let count = 0;
    for (const key of KEYS) {
      const versions = this.model.get(key.toString()) ?? [];
      count += versions.length;
      for (let number = 0; number < this.number; number++) {
        const expected = versions.findLast((version) => version.number <= number);
        assert.deepEqual(text(this.table.at(key, number)), text(expected?.value));
        assert.equal(this.table.versionAt(key, number)?.number, expected?.number);
      }
      assert.deepEqual(text(this.table.latest(key)), text(versions.at(-1)?.value));
    }
    assert.equal(this.table.versionCount(), count);
    for (const prefix of ["a", "b", "bc", "c"]) {
      const written = KEYS.map(String).filter(
        (key) => key.startsWith(prefix) && (this.model.get(key)?.length ?? 0) > 0,
      );
      const found = Array.from(this.table.keys(Buffer.from(prefix)), String).sort();
      assert.deepEqual(found, written);
      const present = written.filter((key) => this.model.get(key)!.at(-1)!.value !== undefined);
      const latest = Array.from(this.table.latestEntries(Buffer.from(prefix)), ([k]) => `${Buffer.from(k)}`).sort();
      assert.deepEqual(latest, present);
    }
  }

  #createTable(): VersionedTable {
    return new VersionedTable({
      kv: this.kv,
      latestTable: 5,
      historyTable: 7,
      baseTable: 9,
      keyLength: 2,
      prefixLength: 1,
      valueAt: (_key, position) => this.log[position],
    });
  }
}

function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString("hex");
}

test("VersionedTable is equal to a list of all versions, however it is merged, rolled back and reopened", () => {
  const value = fc.option(fc.uint8Array({ maxLength: 3 }), { nil: undefined });
  const changes = fc.array(fc.tuple(fc.nat(KEYS.length - 1), value), { maxLength: 4 });
  const operation = fc.oneof(
    { weight: 10, arbitrary: fc.record({ blocks: fc.array(changes, { maxLength: 10 }) }) },
    // More versions of one key than a chunk holds.
    { weight: 3, arbitrary: fc.record({ burst: fc.integer({ min: 40, max: 150 }) }) },
    { weight: 6, arbitrary: fc.record({ merge: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 2, arbitrary: fc.record({ rollback: fc.double({ min: 0, max: 1, noNaN: true }) }) },
    { weight: 3, arbitrary: fc.constant({ reopen: true as const }) },
  );
  let fullChunks = 0;
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 25, size: "max" }), (operations) => {
      const harness = new Harness();
      for (const step of operations) {
        if ("blocks" in step) for (const block of step.blocks) harness.block(new Map(block));
        else if ("burst" in step) {
          for (let i = 0; i < step.burst; i++) harness.block(new Map([[i % 2, Buffer.of(i)]]));
        } else if ("merge" in step) harness.merge(step.merge);
        else if ("reopen" in step) harness.reopen();
        else if (harness.number > 0) {
          harness.rollback(Math.floor(step.rollback * (harness.number - 1)));
        }
      }
      harness.assertEqual();
      fullChunks += Array.from(harness.kv.range({ from: Uint8Array.of(7) })).filter(([key]) => key.length > 3).length;
    }),
    { numRuns: 60 },
  );
  assert.ok(fullChunks > 0, "some lists must have grown beyond one chunk");
});

test("a posting list comes back from its chunk", () => {
  const list = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 2 ** 31 }), fc.integer({ min: 1, max: 2 ** 43 })), {
      maxLength: 64,
    })
    .map((steps) => {
      let number = 0;
      let position = 0;
      return steps.flatMap(([a, b]) => {
        number += a;
        position += b;
        return [number, position];
      });
    });
  fc.assert(
    fc.property(list, (list) => {
      assert.deepEqual(decodePostingList(encodePostingList(list)), list);
    }),
  );
});

test("posting lists are searched, cut and joined by block number", () => {
  const list = [3, 30, 5, 50, 9, 90];
  assert.equal(versionAt(list, 2), undefined);
  assert.deepEqual(versionAt(list, 3), { number: 3, position: 30 });
  assert.deepEqual(versionAt(list, 8), { number: 5, position: 50 });
  assert.deepEqual(versionAt(list, 1_000), { number: 9, position: 90 });
  assert.deepEqual(versionsUpTo(list, 5), [3, 30, 5, 50]);
  assert.deepEqual(versionsUpTo(list, 1), []);
  assert.deepEqual(appendVersions([3, 30, 5, 50], list), list);
  assert.deepEqual(appendVersions([], list), list);
  assert.deepEqual(appendVersions(list, list), list);
});
