import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { commitAgain, openDurableLmdbKv, openLmdbKv } from "./lmdb-kv.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Fails with these errors, then commits. */
function commits(...errors: Error[]) {
  let calls = 0;
  const commit = () => {
    const error = errors[calls++];
    if (error !== undefined) throw error;
    return calls;
  };
  return { commit, calls: () => calls };
}

const aborted = () => Object.assign(new Error("MDB_BAD_TXN"), { code: -30782 });

test("a transaction that LMDB aborted is committed a second time, and not a third", () => {
  assert.equal(commitAgain(commits().commit), 1);
  assert.equal(commitAgain(commits(aborted()).commit), 2);
  const failing = commits(aborted(), aborted());
  assert.throws(() => commitAgain(failing.commit), { code: -30782 });
  assert.equal(failing.calls(), 2);
});

test("a transaction that failed for another reason is not repeated", () => {
  const full = commits(Object.assign(new Error("MDB_MAP_FULL"), { code: -30792 }));
  assert.throws(() => commitAgain(full.commit), { code: -30792 });
  assert.equal(full.calls(), 1);
});

/** Writes to the lock file of a store, from `back` transactions ago, what a process that opens the store may write there. */
function forgetCommits(directory: string, back: number): void {
  const file = openSync(join(directory, "lock.mdb"), "r+");
  const number = Buffer.alloc(8);
  readSync(file, number, 0, 8, 8);
  number.writeBigUInt64LE(number.readBigUInt64LE() - BigInt(back));
  writeSync(file, number, 0, 8, 8);
  closeSync(file);
}

for (const [name, open] of Object.entries({ openLmdbKv, openDurableLmdbKv })) {
  test(`${name}: no commit is lost where another process puts an older number of it into the lock file`, () => {
    const directory = mkdtempSync(join(tmpdir(), "evmint-kv-"));
    folders.push(directory);
    const kv = open(directory);
    const keyOf = (number: number) => Uint8Array.of(number >> 8, number & 0xff);
    for (let number = 0; number < 60; number++) {
      kv.transaction((writer) => writer.put(keyOf(number), keyOf(number)));
      // An empty one has no number of its own, and a removed row may be none.
      if (number % 3 === 0) kv.transaction(() => {});
      if (number % 5 === 0) kv.transaction((writer) => writer.remove(keyOf(1_000)));
      if (number > 4) forgetCommits(directory, number % 4);
    }
    // Its begin puts the lock file right, which the last turn left wrong.
    kv.transaction(() => {});
    assert.equal([...kv.range({})].length, 60);
    kv.close();
  });
}
