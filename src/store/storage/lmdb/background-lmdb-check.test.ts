import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Kv } from "../kv.ts";
import { BackgroundLmdbCheck } from "./background-lmdb-check.ts";
import { beginFileCheck, divideMainTree, finishFileCheck, mainTreeCheck } from "./lmdb-file-check.ts";
import { openLmdbKv } from "./lmdb-kv.ts";
import { LmdbFault } from "./lmdb-tree-check.ts";

const PAGE = 4096;
const ROWS = 4_000;

const keyOf = (index: number) => Buffer.from(`key ${String((index * 7_919) % ROWS).padStart(6, "0")}`);

/** Rows at all places of the tree, so that a few of these write most of its pages. */
function write(kv: Kv, round: number): void {
  for (let first = 0; first < ROWS; first += 400) {
    kv.transaction((writer) => {
      for (let i = first; i < first + 400; i += 3)
        writer.put(keyOf(i), Buffer.alloc(i % 200 === 0 ? 9_000 : 60, round));
    });
  }
}

for (const writableMap of [true, false]) {
  const withStore = async (use: (kv: Kv, path: string) => void | Promise<void>) => {
    const directory = mkdtempSync(join(tmpdir(), "evmint-lmdb-"));
    const kv = openLmdbKv(directory, undefined, { writableMap });
    try {
      for (let round = 0; round < 5; round++) write(kv, round);
      await use(kv, join(directory, "data.mdb"));
    } finally {
      kv.close();
      rmSync(directory, { recursive: true });
    }
  };

  describe(`a check of a file in use, with${writableMap ? "" : "out"} a writable map`, () => {
    const checkWhile = (path: string, work: () => void) => {
      const file = openSync(path, "r");
      try {
        const check = beginFileCheck(file);
        work();
        const tree = mainTreeCheck(check.checked, check.meta.main.depth, () => {});
        for (const subtree of divideMainTree(tree, check.meta)) tree.check(subtree);
        finishFileCheck(check, tree.counts);
      } finally {
        closeSync(file);
      }
    };

    test("is not disturbed by transactions while the pages are pinned, and else is", () =>
      withStore((kv, path) => {
        const writeMuch = () => {
          for (let round = 0; round < 10; round++) write(kv, round);
        };
        for (let times = 0; times < 3; times++) {
          const pinned = kv.pinPages!();
          checkWhile(path, writeMuch);
          pinned.release();
        }
        assert.throws(() => checkWhile(path, writeMuch), LmdbFault);
      }));

    test("pages are used again once they are released", () =>
      withStore((kv, path) => {
        const grown = (pinned: { release(): void } | undefined) => {
          const before = pagesOf(path);
          for (let round = 0; round < 10; round++) write(kv, round);
          pinned?.release();
          return pagesOf(path) - before;
        };
        const whilePinned = grown(kv.pinPages!());
        assert.ok(whilePinned > 100, `${whilePinned} pages`);
        assert.ok(grown(undefined) < whilePinned / 4);
      }));

    test("finds nothing in a thread while rows are written", () =>
      withStore(async (kv, path) => {
        for (let times = 0; times < 3; times++) {
          const ended = resultOf(new BackgroundLmdbCheck(path, kv.pinPages!()));
          let fault: string | undefined | null = null;
          void ended.then((found) => {
            fault = found;
          });
          for (let round = 0; fault === null; round++) {
            write(kv, round % 200);
            await new Promise(setImmediate);
          }
          assert.equal(await ended, undefined);
        }
      }));
  });
}

test("BackgroundLmdbCheck finds a damaged page, and nothing after it was stopped", async () => {
  const directory = mkdtempSync(join(tmpdir(), "evmint-lmdb-"));
  const path = join(directory, "data.mdb");
  try {
    const kv = openLmdbKv(directory);
    write(kv, 1);
    kv.close();
    const file = readFileSync(path);
    const page = Array.from({ length: file.length / PAGE }, (_, index) => index).find(
      (index) => file.readUInt16LE(index * PAGE + 18) === 2 && file.readUInt32LE(index * PAGE + 8) > 9,
    )!;
    file[page * PAGE]! ^= 1;
    writeFileSync(path, file);
    const opened = openLmdbKv(directory);
    assert.equal(await resultOf(new BackgroundLmdbCheck(path, opened.pinPages!())), `page ${page} holds another page`);
    const stopped = new BackgroundLmdbCheck(path, opened.pinPages!());
    let hasFound = false;
    const found = () => {
      hasFound = true;
    };
    stopped.start({ onEnded: found, onFailed: found });
    stopped.stop();
    // By the time that another one, begun later, has found it.
    await resultOf(new BackgroundLmdbCheck(path, opened.pinPages!()));
    assert.equal(hasFound, false);
    opened.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});

/** Of the file, as its newer meta page says. */
function pagesOf(path: string): number {
  const file = readFileSync(path);
  return Math.max(file.readUInt32LE(144), file.readUInt32LE(PAGE + 144)) + 1;
}

function resultOf(check: BackgroundLmdbCheck): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    // The thread itself does not hold the process.
    const alive = setInterval(() => {}, 1_000);
    const end = (settle: () => void) => {
      clearInterval(alive);
      settle();
    };
    check.start({
      onEnded: (fault) => end(() => resolve(fault)),
      onFailed: (error) => end(() => reject(error)),
    });
    setTimeout(() => clearInterval(alive), 60_000).unref();
  });
}
