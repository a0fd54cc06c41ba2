import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { mulberry32 } from "../../../../test/support/chain/random-chain.ts";
import { IS_NIGHTLY } from "../../../../test/support/nightly.ts";
import { findLmdbFault } from "./lmdb-check.ts";
import { openLmdbKv } from "./lmdb-kv.ts";
import { META_OFFSET, TREE_OFFSET } from "./lmdb-pages.ts";

const PAGE = 4096;
const check = (path: string) => findLmdbFault(path);

/** Runs `use` with the file of a store of many commits, rows of all sizes and free pages. */
function withFile(seed: number, use: (path: string, below: (limit: number) => number) => void) {
  const directory = mkdtempSync(join(tmpdir(), "evmint-lmdb-"));
  const random = mulberry32(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const randomKey = () => Buffer.of(1 + below(4), below(256), below(256));
  try {
    const kv = openLmdbKv(directory);
    const path = join(directory, "data.mdb");
    for (let commit = 0; commit < 60; commit++) {
      kv.transaction((writer) => {
        for (let puts = below(60); puts > 0; puts--) {
          writer.put(randomKey(), Buffer.alloc(below(8) === 0 ? below(20_000) : below(90), commit));
        }
        for (let removes = below(40); removes > 0; removes--) writer.remove(randomKey());
      });
      if (commit % 10 === 0) assert.equal(check(path), undefined);
    }
    kv.close();
    assert.equal(check(path), undefined);
    use(path, below);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Numbers of pages, some of which are free now; of branches the root. */
function pagesByKind(file: Buffer): Readonly<Record<string, readonly number[]>> {
  const names: Readonly<Record<number, string>> = { 1: "branch", 2: "leaf", 4: "overflow", 8: "meta" };
  const kinds: Record<string, number[]> = { branch: [], leaf: [], overflow: [], meta: [] };
  for (let page = 0; page < file.length / PAGE; page++) {
    if (file.readUInt32LE(page * PAGE) !== page) continue;
    kinds[names[file.readUInt16LE(page * PAGE + 18) & 0xfff] ?? ""]?.push(page);
  }
  const newest =
    file.readUInt32LE(META_OFFSET.transaction) > file.readUInt32LE(PAGE + META_OFFSET.transaction) ? 0 : PAGE;
  return { ...kinds, branch: [file.readUInt32LE(newest + META_OFFSET.mainTree + TREE_OFFSET.root)] };
}

/** All rows of the store in the directory of `path`. */
function rowsOf(path: string): string[] {
  const kv = openLmdbKv(join(path, ".."));
  const rows = Array.from(kv.range({}), ([key, value]) =>
    Buffer.concat([key, Buffer.from("="), value]).toString("base64"),
  );
  kv.close();
  return rows;
}

/** Damages of each of two files. */
const ROUNDS = IS_NIGHTLY ? 120 : 45;

describe("findLmdbFault", () => {
  test("finds nothing in a file that is whole, empty or not there", () =>
    withFile(1, (path) => {
      writeFileSync(path, "");
      assert.equal(check(path), undefined);
      rmSync(path);
      assert.equal(check(path), undefined);
    }));

  test("finds every page that was zeroed, and every flipped bit that matters", () => {
    for (const seed of [2, 3]) {
      withFile(seed, (path, below) => {
        const rows = rowsOf(path);
        const original = readFileSync(path);
        let found = 0;
        for (let round = 0; round < ROUNDS; round++) {
          const damaged = Buffer.from(original);
          if (round % 3 === 0) {
            const page = below(damaged.length / PAGE) * PAGE;
            damaged.fill(0, page, page + PAGE);
          } else if (round % 3 === 1) {
            // Most of a page is rows; its header and offsets come first.
            const page = below(damaged.length / PAGE) * PAGE;
            damaged[page + below(200)]! ^= 1 << below(8);
          } else {
            for (let bits = 1 + below(20); bits > 0; bits--) {
              damaged[below(damaged.length)]! ^= 1 << below(8);
            }
          }
          writeFileSync(path, damaged);
          if (check(path) !== undefined) found++;
          else assert.deepEqual(rowsOf(path), rows, `seed ${seed}, round ${round}`);
        }
        assert.ok(found > ROUNDS / 4, `${found} of ${ROUNDS} were found`);
      });
    }
  });

  test("finds flipped bits in every kind of page", () =>
    withFile(4, (path, below) => {
      const rows = rowsOf(path);
      const original = readFileSync(path);
      const kinds = pagesByKind(original);
      for (const [kind, pages] of Object.entries(kinds)) {
        assert.ok(pages.length > 0, `there is no ${kind} page`);
        let found = 0;
        for (let round = 0; round < 40; round++) {
          const damaged = Buffer.from(original);
          // Number, age, kind and bounds; then where rows are, and of what length.
          const at = round < 24 ? round : below(PAGE);
          damaged[pages[below(pages.length)]! * PAGE + at]! ^= 1 << below(8);
          writeFileSync(path, damaged);
          if (check(path) !== undefined) found++;
          else assert.deepEqual(rowsOf(path), rows, `${kind}, round ${round}, byte ${at}`);
        }
        assert.ok(found >= 8, `${found} of 40 in ${kind} pages were found`);
      }
    }));

  test("finds the same with a second thread", () =>
    withFile(8, (path, below) => {
      const original = readFileSync(path);
      const shared = () => findLmdbFault(path, { sharedBytesMin: 0 }) !== undefined;
      assert.equal(shared(), false);
      for (let round = 0; round < 12; round++) {
        const damaged = Buffer.from(original);
        const page = below(damaged.length / PAGE) * PAGE;
        damaged.fill(0, page, page + PAGE);
        writeFileSync(path, damaged);
        assert.equal(shared(), check(path) !== undefined, `round ${round}`);
      }
    }));

  test("finds a page that an older version of itself has replaced", () =>
    withFile(5, (path) => {
      const older = readFileSync(path);
      const kv = openLmdbKv(join(path, ".."));
      for (let i = 0; i < 30; i++) {
        kv.transaction((writer) => writer.put(Buffer.of(2, i, i), Buffer.alloc(40, 99)));
      }
      kv.close();
      const rows = rowsOf(path);
      const current = readFileSync(path);
      let found = 0;
      for (let page = 2 * PAGE; page < Math.min(older.length, current.length); page += PAGE) {
        if (older.subarray(page, page + PAGE).equals(current.subarray(page, page + PAGE))) continue;
        const damaged = Buffer.from(current);
        older.copy(damaged, page, page, page + PAGE);
        writeFileSync(path, damaged);
        if (check(path) !== undefined) found++;
        else assert.deepEqual(rowsOf(path), rows, `page ${page / PAGE}`);
      }
      assert.ok(found > 0);
    }));

  test("finds a file that ends early", () =>
    withFile(6, (path, below) => {
      const rows = rowsOf(path);
      const whole = readFileSync(path);
      for (let round = 0; round < 40; round++) {
        writeFileSync(path, whole.subarray(0, below(whole.length)));
        if (check(path) === undefined && readFileSync(path).length > 0) {
          assert.deepEqual(rowsOf(path), rows);
        }
      }
    }));
});
