import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createTrie } from "../../../test/support/chain/memory-disk.ts";
import { type RandomBlock, RandomChain } from "../../../test/support/chain/random-chain.ts";
import { FailingKv } from "../../../test/support/store/storage/failing-kv.ts";
import type { Kv } from "../../store/storage/kv.ts";
import { openLmdbKv } from "../../store/storage/lmdb/lmdb-kv.ts";
import { type LogDirectory, openLogDirectory } from "../../store/storage/log/log-file.ts";
import { StoreFollower } from "./follow/store-follower.ts";
import { INDEX_FOLDER } from "./index/index-files.ts";
import { openLogBlockStore } from "./log-block-store.ts";

const BLOCKS = 30;
/** In the middle of a segment. */
const KEPT = 12;

/** A log whose files can be made to fail. */
function failingLog(path: string) {
  const directory = openLogDirectory(path);
  const failing = { sync: false, truncate: false };
  const log: LogDirectory = {
    ...directory,
    open(name) {
      const file = directory.open(name);
      return {
        size: () => file.size(),
        read: (into, position) => file.read(into, position),
        write: (bytes, position) => file.write(bytes, position),
        truncate(size) {
          if (failing.truncate) throw new Error("input/output error");
          file.truncate(size);
        },
        sync() {
          if (failing.sync) throw new Error("input/output error");
          file.sync();
        },
        close: () => file.close(),
      };
    },
  };
  return { log, failing };
}

/** A store of `BLOCKS` blocks in some segments, and one that follows it. */
function open(t: TestContext, wrap: (kv: Kv) => Kv = (kv) => kv) {
  const directory = mkdtempSync(join(tmpdir(), "evmint-rollback-"));
  const { log, failing } = failingLog(join(directory, "log"));
  const openStore = (index: Kv) =>
    openLogBlockStore({ log, index, createTrie, followableIn: directory, segmentBytesMax: 4_000, defer: () => {} });
  const kv = openLmdbKv(join(directory, INDEX_FOLDER), () => {}, { writableMap: false });
  const store = openStore(wrap(kv));
  const chain = new RandomChain(7);
  const blocks: RandomBlock[] = [];
  for (let i = 0; i < BLOCKS; i++) {
    const block = chain.next();
    store.append(block.record, block.nodes);
    blocks.push(block);
  }
  const follower = new StoreFollower({ ...store.followable!, createTrie });
  const followers = [follower];
  t.after(() => {
    for (const each of followers) each.close();
    kv.close();
    rmSync(directory, { recursive: true, force: true });
  });
  /** Followers, old and new, and the store have the blocks up to `head`, and no others. */
  const assertHead = (head: number) => {
    followers.push(new StoreFollower({ ...store.followable!, createTrie }));
    follower.catchUp();
    for (const reader of [...followers, store]) {
      assert.equal(reader.head(), head);
      for (let number = 0; number <= head; number++) {
        assert.equal(reader.block(number)?.block.hash, blocks[number]!.record.block.hash);
      }
      assert.equal(reader.block(head + 1), undefined);
    }
  };
  return { store, failing, assertHead, openAgain: () => openStore(kv) };
}

for (const what of ["sync", "truncate"] as const) {
  test(`a rollback whose ${what} fails leaves readers with the blocks that are in the log`, (t) => {
    const { store, failing, assertHead, openAgain } = open(t);
    failing[what] = true;
    assert.throws(() => store.rollbackTo(KEPT));
    assertHead(KEPT);
    assert.throws(() => store.rollbackTo(KEPT - 1), { code: "STORE_POISONED" });
    failing[what] = false;
    const again = openAgain();
    // A log that was not cut brings its blocks back.
    if (what === "sync") assert.equal(again.head(), KEPT);
    else assert.ok(again.head()! > KEPT);
    assert.deepEqual(again.check().faults, []);
  });
}

for (const failure of ["before", "after"] as const) {
  test(`a rollback whose commit fails ${failure} it is made leaves readers with the blocks of the index`, (t) => {
    const { store, assertHead } = open(t, (kv) => new FailingKv(kv, { transaction: BLOCKS, failure }));
    assert.throws(() => store.rollbackTo(KEPT));
    assertHead(failure === "before" ? BLOCKS - 1 : KEPT);
  });
}
