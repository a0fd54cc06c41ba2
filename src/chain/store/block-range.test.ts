import assert from "node:assert/strict";
import { test } from "node:test";
import { ArchiveModel } from "../../../test/support/chain/archive-model.ts";
import { createMemoryDisk, createTrie } from "../../../test/support/chain/memory-disk.ts";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import { IS_NIGHTLY } from "../../../test/support/nightly.ts";
import { createFaultyDisk } from "../../../test/support/store/storage/faulty-disk.ts";
import { BufferedKv } from "../../store/storage/buffered-kv.ts";
import type { Kv } from "../../store/storage/kv.ts";
import type { LogDirectory } from "../../store/storage/log/log-file.ts";
import { createMemoryLogDirectory } from "../../store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import { deferNothing } from "./background-work.ts";
import { type LogBlockStore, openLogBlockStore } from "./log-block-store.ts";

const BUFFER_LIMITS = { rowsMax: 150, bytesMax: 300_000, sliceRows: 15 };
const MERGE_LIMITS = { versionsMin: 40, nodeBytesMin: 20_000, blocksMin: 12, keysMax: 25 };
const BASE = 5;
const GROUPS = 6;
const GROUP_BLOCKS = 4;
/** So many that some reach the disk whole after others that do not. */
const UNSYNCED_BLOCKS = 16;

/** A store whose rows wait in memory, over files that outlive it. */
function openStore(log: LogDirectory, kv: Kv, defer: (work: () => void) => void = deferNothing): LogBlockStore {
  const index = new BufferedKv(kv, BUFFER_LIMITS);
  return openLogBlockStore({ log, index, createTrie, defer, segmentBytesMax: 30_000, mergeLimits: MERGE_LIMITS });
}

/** Appends blocks up to BASE, and then a range whose groups are followed by work of the background. */
function writeRange(seed: number, log: LogDirectory, kv: Kv, groups = GROUPS) {
  const deferred: (() => void)[] = [];
  const store = openStore(log, kv, (work) => deferred.push(work));
  const chain = new RandomChain(seed);
  const model = new ArchiveModel();
  const append = () => {
    const block = chain.next();
    store.append(block.record, block.nodes);
    model.add(block);
  };
  while (model.blocks.length <= BASE) append();
  store.beginRange();
  for (let group = 0; group < groups; group++) {
    store.appendTogether(() => {
      for (let i = 0; i < GROUP_BLOCKS; i++) append();
    });
    for (let i = 0; i < 3; i++) deferred.shift()?.();
  }
  return { store, model, append };
}

test("blocks of a range that a process did not end are gone at the next start, and those of one that it ended are there", () => {
  for (let groups = 0; groups <= GROUPS; groups++) {
    for (const isEnded of [false, true]) {
      const [log, kv] = [createMemoryLogDirectory(), createMemoryKv()];
      const { store, model } = writeRange(groups, log, kv, groups);
      if (isEnded) store.endRange();
      const reopened = openStore(log, kv);
      (isEnded ? model : model.upTo(BASE)).assertEqual(reopened);
      assert.equal(reopened.isInRange, false);
      assert.deepEqual(
        log.list().filter((name) => name === "range"),
        [],
      );
    }
  }
});

test("a power cut takes all blocks of a range or none, whatever of the last group reached the disk", () => {
  for (let seed = 0; seed < (IS_NIGHTLY ? 45 : 15); seed++) {
    const [disk, kv] = [createFaultyDisk(), createMemoryKv()];
    const { store, model } = writeRange(seed, disk.directory, kv);
    const isEnded = seed % 3 === 0;
    if (isEnded) store.endRange();
    else {
      // A group that no sync follows.
      const chain = RandomChain.from(
        seed,
        model.blocks.map(({ record }) => record),
      );
      assert.throws(
        () =>
          store.appendTogether(() => {
            for (let i = 0; i < UNSYNCED_BLOCKS; i++) {
              const { record, nodes } = chain.next();
              store.append(record, nodes);
            }
            disk.failSync();
          }),
        { code: "STORE_LOG_POISONED" },
      );
    }
    let state = seed;
    const choose = () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 16) & 255;
    };
    const reopened = openStore(disk.powerCut(choose), kv);
    (isEnded ? model : model.upTo(BASE)).assertEqual(reopened);
  }
});

test("a block that is appended alone makes the blocks of a range stay, and a rollback ends a range", () => {
  const disk = createMemoryDisk();
  const { store, model, append } = writeRange(1, disk.log, disk.index, 2);
  append();
  assert.equal(store.isInRange, false);
  model.assertEqual(openStore(disk.log, disk.index));

  store.beginRange();
  store.rollbackTo(BASE + 2);
  assert.equal(store.isInRange, false);
  model.upTo(BASE + 2).assertEqual(openStore(disk.log, disk.index));
});

test("beginRange that cannot write its mark begins no range", () => {
  const { directory, failSync, heal } = createFaultyDisk();
  const kv = createMemoryKv();
  const { store, model, append } = writeRange(2, directory, kv, 0);
  store.endRange();
  failSync();
  assert.throws(() => store.beginRange());
  heal();
  assert.equal(store.isInRange, false);
  store.appendTogether(append);
  model.assertEqual(openStore(directory, kv));
});

test("a mark that was written in part, and one of another chain, remove no block", () => {
  for (const text of ['{"number":2,"ha', `{"number":2,"hash":"0x${"00".repeat(32)}","end":9}`, "[]"]) {
    const [log, kv] = [createMemoryLogDirectory(), createMemoryKv()];
    const { store, model } = writeRange(3, log, kv, 1);
    store.endRange();
    log.open("range").write(Buffer.from(text), 0);
    model.assertEqual(openStore(log, kv));
    assert.ok(!log.list().includes("range"));
  }
});
