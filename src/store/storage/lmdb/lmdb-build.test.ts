import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { InvariantError } from "../../../base/errors.ts";
import type { Kv, SortedRows } from "../kv.ts";
import { findLmdbFault } from "./lmdb-check.ts";
import { openLmdbKv } from "./lmdb-kv.ts";

type Row = readonly [key: Uint8Array, value: Uint8Array];

function withStore(use: (kv: Kv, file: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), "evmint-build-"));
  const kv = openLmdbKv(directory);
  try {
    use(kv, join(directory, "data.mdb"));
  } finally {
    kv.close();
    rmSync(directory, { recursive: true });
  }
}

/** Rows of one table, sorted. */
function rowsOf(table: number, lengths: readonly (readonly [key: number, value: number])[]): Row[] {
  return lengths.map(([keyLength, valueLength], i) => {
    const key = new Uint8Array(5 + keyLength).fill(i);
    key.set([table, i >> 24, i >> 16, i >> 8, i]);
    return [key, new Uint8Array(valueLength).fill(i + 1)];
  });
}

const put = (rows: SortedRows, sorted: readonly Row[]) => {
  for (const [key, value] of sorted) rows.put(key, value);
};
const faultOf = (file: string) => findLmdbFault(file);
const plain = (rows: Iterable<Row>) =>
  Array.from(rows, ([key, value]) => [Buffer.from(key).toString("hex"), Buffer.from(value).toString("hex")]);

const lengths = fc.array(
  fc.tuple(
    fc.nat({ max: 500 }),
    fc.oneof(fc.nat({ max: 300 }), fc.integer({ min: 1_480, max: 2_040 }), fc.integer({ min: 4_000, max: 13_000 })),
  ),
  { maxLength: 400, size: "max" },
);

test("LMDB reads and writes a file that was built of sorted rows, and its check finds no fault", () => {
  fc.assert(
    fc.property(fc.array(lengths, { maxLength: 4 }), (tables) =>
      withStore((kv, file) => {
        const expected = tables.map((table, i) => rowsOf(i + 1, table));
        kv.load!((rows) => {
          // The runs of later tables first: the order of the runs is free.
          for (const sorted of expected.toReversed()) put(rows.run(), sorted);
        });
        assert.equal(faultOf(file), undefined);
        const all = expected.flat();
        assert.deepEqual(plain(kv.range({})), plain(all));
        for (const [key, value] of all) assert.deepEqual(kv.get(key), value);

        const changed = new Map(plain(all) as [string, string][]);
        kv.transaction((writer) => {
          for (const [i, [key]] of all.entries()) {
            if (i % 3 === 0) continue;
            const value = new Uint8Array(i % 3 === 1 ? 700 : 3).fill(i);
            writer.put(key, value);
            changed.set(Buffer.from(key).toString("hex"), Buffer.from(value).toString("hex"));
          }
        });
        assert.deepEqual(new Map(plain(kv.range({})) as [string, string][]), changed);
        kv.sync();
        assert.equal(faultOf(file), undefined);
      }),
    ),
    { numRuns: 40 },
  );
});

test("a built file may have a tree of four levels", () =>
  withStore((kv, file) => {
    const sorted = rowsOf(
      1,
      Array.from({ length: 1_500 }, () => [500, 1_400] as const),
    );
    kv.load!((rows) => put(rows.run(), sorted));
    assert.equal(faultOf(file), undefined);
    assert.deepEqual(plain(kv.range({})), plain(sorted));
  }));

test("load replaces the rows that were there, and leaves them where it fails", () =>
  withStore((kv, file) => {
    const [before, after] = [rowsOf(1, [[3, 3]]), rowsOf(2, [[3, 3]])];
    kv.load!((rows) => put(rows.run(), before));
    assert.throws(() =>
      kv.load!((rows) => {
        put(rows.run(), after);
        throw new Error("disk");
      }),
    );
    assert.deepEqual(plain(kv.range({})), plain(before));
    assert.equal(existsSync(`${file}.new`), false);
    kv.load!((rows) => put(rows.run(), after));
    assert.deepEqual(plain(kv.range({})), plain(after));
  }));

test("load rejects rows out of order, twice the same key, and runs that interleave", () =>
  withStore((kv) => {
    const [first, second] = rowsOf(1, [
      [0, 1],
      [0, 1],
    ]) as [Row, Row];
    const [between] = rowsOf(1, [[1, 1]]) as [Row];
    for (const runs of [[[second, first]], [[first, first]], [[first, second], [between]]]) {
      const load = () =>
        kv.load!((rows) => {
          for (const run of runs) put(rows.run(), run);
        });
      assert.throws(load, InvariantError);
    }
    assert.deepEqual(plain(kv.range({})), []);
  }));

test("LmdbBuild joins runs of thousands of leaves with runs of one leaf before, between and after them", () => {
  // One row fills a leaf, and a branch has few children.
  const rowLengths = (count: number) => Array.from({ length: count }, () => [480, 1_400] as const);
  const counts = [1, 3_500, 1, 1_100, 2_100, 1];
  withStore((kv, file) => {
    const tables = counts.map((count, i) => rowsOf(i + 1, rowLengths(count)));
    kv.load!((rows) => {
      for (const sorted of tables) put(rows.run(), sorted);
    });
    assert.equal(faultOf(file), undefined);
    const all = tables.flat();
    assert.deepEqual(plain(kv.range({})), plain(all));
    kv.transaction((writer) => {
      for (const [i, [key]] of all.entries()) if (i % 2 === 0) writer.remove(key);
    });
    kv.sync();
    assert.equal(faultOf(file), undefined);
    assert.deepEqual(plain(kv.range({})), plain(all.filter((_, i) => i % 2 === 1)));
  });
});
