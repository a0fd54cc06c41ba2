import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArchiveModel } from "../../../test/support/chain/archive-model.ts";
import { createTrie } from "../../../test/support/chain/memory-disk.ts";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import fc from "../../../test/support/fast-check.ts";
import type { Kv } from "../../store/storage/kv.ts";
import { createMemoryLogDirectory } from "../../store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import { TABLE } from "../../store/storage/schema.ts";
import { openLogBlockStore } from "./log-block-store.ts";
import { createMemoryBlockStore } from "./open-block-store.ts";

/** The same store; its transactions are counted, and it cannot go back where `undo` is undefined. */
function counting(kv: Kv, undo: Kv["undo"]) {
  const counts = { transactions: 0 };
  const counted: Kv = {
    undo,
    get: (key) => kv.get(key),
    view: (key) => kv.view(key),
    range: (range) => kv.range(range),
    transaction(work) {
      counts.transactions++;
      return kv.transaction(work);
    },
    sync: () => kv.sync(),
    close: () => kv.close(),
  };
  return { kv: counted, counts };
}

function open(index: Kv, options: { readonly addressIndex?: boolean; readonly merges?: boolean }) {
  const deferred: (() => void)[] = [];
  const { addressIndex = false, merges = false } = options;
  const waits = merges ? 9 : 1_000_000;
  const store = openLogBlockStore({
    index,
    log: createMemoryLogDirectory(),
    createTrie,
    addressIndex,
    defer: (work) => deferred.push(work),
    mergeLimits: {
      versionsMin: 1_000_000,
      nodeBytesMin: 1 << 30,
      blocksMin: waits,
      keysMax: 10,
      sliceMs: Infinity,
      logs: { blocksMin: waits, postingsMin: 1_000_000, logBytesMin: 1 << 30, rowsMax: 10 },
    },
  });
  const runDeferred = (count: number) => {
    for (let i = 0; i < count; i++) deferred.shift()?.();
  };
  return { store, runDeferred };
}

/** Without codes: removing blocks leaves theirs. */
const rowsOf = (kv: Kv) =>
  Array.from(kv.range({}))
    .filter(([key]) => key[0] !== TABLE.code)
    .map(([key, value]) => Buffer.concat([key, Uint8Array.of(0), value]).toString("hex"));

describe("a rollback in memory", () => {
  test("leaves the rows that removing the blocks leaves, after any blocks and merges", () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ blocks: fc.nat(6), deferred: fc.nat(8) }) },
      { weight: 2, arbitrary: fc.record({ back: fc.double({ min: 0, max: 1, noNaN: true }) }) },
    );
    fc.assert(
      fc.property(fc.nat(), fc.boolean(), fc.array(step, { maxLength: 16 }), (seed, merges, steps) => {
        const kvs = [createMemoryKv(), createMemoryKv()] as const;
        const undone = open(kvs[0], { merges });
        const removed = open(counting(kvs[1], undefined).kv, { merges });
        const model = new ArchiveModel();
        let chain = new RandomChain(seed);
        for (const [i, step] of steps.entries()) {
          if ("blocks" in step) {
            for (let n = 0; n <= step.blocks; n++) {
              const block = chain.next();
              model.add(block);
              for (const { store } of [undone, removed]) store.append(block.record, block.nodes);
            }
            for (const { runDeferred } of [undone, removed]) runDeferred(step.deferred);
          } else if (model.blocks.length > 0) {
            const number = Math.floor(step.back * (model.blocks.length - 1));
            for (const { store } of [undone, removed]) store.rollbackTo(number);
            model.blocks.length = number + 1;
            chain = RandomChain.from(
              seed + i,
              model.blocks.map(({ record }) => record),
            );
          }
          assert.deepEqual(rowsOf(kvs[0]), rowsOf(kvs[1]));
          model.assertEqual(undone.store);
        }
        assert.deepEqual(undone.store.check().faults, []);
        for (const { store } of [undone, removed]) {
          while (store.mergeSome());
        }
        assert.deepEqual(rowsOf(kvs[0]), rowsOf(kvs[1]));
      }),
      { numRuns: 40 },
    );
  });

  test("takes no transaction, however many blocks go, before a merge", () => {
    const memory = createMemoryKv();
    const { kv, counts } = counting(memory, memory.undo);
    const { store } = open(kv, {});
    const chain = new RandomChain(5);
    const append = (blocks: number) => {
      for (let i = 0; i < blocks; i++) {
        const { record, nodes } = chain.next();
        store.append(record, nodes);
      }
    };
    append(300);
    const rows = rowsOf(memory);
    append(300);
    const before = counts.transactions;
    store.rollbackTo(299);
    assert.equal(counts.transactions, before);
    assert.deepEqual(rowsOf(memory), rows);
  });

  test("the address index goes on where it was, and finds what it found", () => {
    const { store, runDeferred } = open(createMemoryKv(), { addressIndex: true });
    const chain = new RandomChain(9, { transactionsMax: 6 });
    const records = [];
    for (let i = 0; i < 40; i++) {
      const { record, nodes } = chain.next();
      records.push(record);
      store.append(record, nodes);
      // The index is some blocks late.
      if (i % 7 === 0) runDeferred(3);
    }
    store.rollbackTo(20);
    runDeferred(100);
    assert.equal(store.addressIndex.indexedBlocks, 21);
    for (const { block, senders } of records.slice(0, 21)) {
      for (const [index, address] of senders.entries()) {
        const { number } = block.header;
        const query = { address, from: number, to: number, transactionsMin: 1 };
        const { blocks } = store.addressIndex.search({ ...query, order: "newestFirst" });
        assert.ok(blocks[0]?.entries.some((entry) => entry.index === index));
      }
    }
    assert.deepEqual(store.check().faults, []);
  });

  test("a store in memory does not merge by the number of blocks, so that blocks can be undone", () => {
    const deferred: (() => void)[] = [];
    const store = createMemoryBlockStore({ createTrie, defer: (work) => deferred.push(work) });
    const chain = new RandomChain(2, { accounts: 4, transactionsMax: 1 });
    for (let i = 0; i < 1_100; i++) {
      const { record, nodes } = chain.next();
      store.append(record, nodes);
    }
    assert.equal(deferred.length, 0);
    store.rollbackTo(1);
    assert.equal(store.head(), 1);
  });
});
