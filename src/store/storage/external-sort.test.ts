import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ExternalSort, removeSortFiles } from "./external-sort.ts";
import { createMemoryLogDirectory } from "./log/memory-log-directory.ts";

describe("ExternalSort", () => {
  for (const [name, memoryBytes] of [
    ["in memory", 4 << 20],
    ["in runs", 2_000],
  ] as const) {
    test(`gives every row in the order of its key, ${name}, also with values longer than its memory`, () => {
      const directory = createMemoryLogDirectory();
      const sort = new ExternalSort(directory, "rows", 20, memoryBytes);
      const rows: (readonly [string, string])[] = [];
      for (let i = 0; i < 3_000; i++) {
        const key = Buffer.alloc(20, i % 3);
        key.writeUInt32BE(Math.imul(i, 0x9e3779b1) >>> 0, 12);
        const value = Buffer.alloc(i % 500 === 0 ? 100_000 : i % 30, i);
        sort.add(key, value);
        rows.push([key.toString("hex"), value.toString("hex")]);
      }
      const sorted: (readonly [string, string])[] = [];
      sort.forEach((key, value) => {
        sorted.push([Buffer.from(key).toString("hex"), Buffer.from(value).toString("hex")]);
      });
      rows.sort(([a], [b]) => (a < b ? -1 : 1));
      assert.deepEqual(sorted, rows);
      assert.equal(directory.list().length, memoryBytes === 2_000 ? 1 : 0);
      sort.close();
      assert.deepEqual(directory.list(), []);
    });
  }

  test("removeSortFiles removes what a process that died has left, and no other file", () => {
    const directory = createMemoryLogDirectory();
    directory.open("0000000000000000.log");
    const sort = new ExternalSort(directory, "rows", 2, 8);
    for (let i = 0; i < 9; i++) sort.add(Uint8Array.of(0, i), new Uint8Array(1));
    assert.equal(directory.list().length, 2);
    removeSortFiles(directory);
    assert.deepEqual(directory.list(), ["0000000000000000.log"]);
  });
});
