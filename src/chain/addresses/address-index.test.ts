import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../../base/primitives/address.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { createMemoryLogDirectory } from "../../store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import type { BlockRecord } from "../block-store.ts";
import { addressEntries, addressPartsOf, ROLE, UNKNOWN_INDEX } from "../records/block-addresses.ts";
import { type LogBlockStore, openLogBlockStore } from "../store/log-block-store.ts";
import { AddressIndex, type AddressQuery } from "./address-index.ts";

/** A store whose deferred work runs when a test says so, and that can be dropped and opened again. */
function openTestStore(addressIndex = true) {
  const log = createMemoryLogDirectory();
  const index = createMemoryKv();
  let deferred: (() => void)[] = [];
  let seed = 1;
  let chain = new RandomChain(seed);
  const records: BlockRecord[] = [];
  const open = (isOn: boolean) =>
    openLogBlockStore({
      log,
      index,
      createTrie: createStateTrie,
      addressIndex: isOn,
      defer: (work) => deferred.push(work),
    });
  let store: LogBlockStore = open(addressIndex);
  return {
    records,
    get index() {
      return store.addressIndex;
    },
    check: () => store.check(),
    append() {
      const { record, nodes } = chain.next();
      store.append(record, nodes);
      records.push(record);
    },
    rollbackTo(number: number) {
      store.rollbackTo(number);
      records.length = number + 1;
      chain = RandomChain.from(++seed, records);
    },
    /** As many pieces of deferred work as there are, at most `max`. */
    work(max = Number.POSITIVE_INFINITY) {
      for (let left = max; left > 0 && deferred.length > 0; left--) deferred.shift()!();
    },
    /** What a killed process does: nothing is closed, deferred work is lost. */
    restart(isOn = true) {
      deferred = [];
      store = open(isOn);
    },
  };
}

const entriesOf = (record: BlockRecord) => [...addressEntries(addressPartsOf(record))];

/** What `search` has to find, from the blocks alone. */
function scan(records: readonly BlockRecord[], query: AddressQuery) {
  const { address, from, to, order, transactionsMin } = query;
  const all = records
    .filter(({ block }) => block.header.number >= from && block.header.number <= to)
    .map((record) => ({
      number: record.block.header.number,
      entries: entriesOf(record)
        .filter((entry) => entry.address === address)
        .map(({ index, roles }) => ({ index, roles })),
    }))
    .filter(({ entries }) => entries.length > 0);
  if (order === "newestFirst") all.reverse();
  let count = 0;
  const length = all.findIndex(({ entries }) => {
    if (count >= transactionsMin) return true;
    count += entries.length;
    return false;
  });
  return length === -1 ? { blocks: all, isMore: false } : { blocks: all.slice(0, length), isMore: true };
}

function assertSame(index: AddressIndex, records: readonly BlockRecord[], query: AddressQuery) {
  const { blocks, isMore } = index.search(query);
  const found = blocks.map(({ number, entries }) => ({
    number,
    entries: entries.map(({ index: at, roles }) => ({ index: at, roles })),
  }));
  assert.deepEqual({ blocks: found, isMore }, scan(records, query));
}

const addressesOf = (records: readonly BlockRecord[]): Address[] => [
  ...new Set(records.flatMap((record) => entriesOf(record).map(({ address }) => address))),
];

describe("AddressIndex", () => {
  test("it finds what a scan of all blocks finds, whatever is built, rolled back or killed in between", () => {
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant("append" as const),
          // No search while more than 64 blocks wait: the index is being built.
          count: fc.integer({ min: 1, max: 5 }),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant("work" as const),
          count: fc.integer({ min: 1, max: 4 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant("rollback" as const),
          count: fc.integer({ min: 1, max: 5 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant("restart" as const), count: fc.constant(0) }),
      },
    );
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 3, maxLength: 12 }),
        fc.integer({ min: 0, max: 1_000 }),
        fc.nat(20),
        fc.nat(30),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom("newestFirst" as const, "oldestFirst" as const),
        (steps, pick, from, length, transactionsMin, order) => {
          const store = openTestStore();
          store.append();
          for (const { kind, count } of steps) {
            if (kind === "append") for (let i = 0; i < count; i++) store.append();
            if (kind === "work") store.work(count);
            if (kind === "restart") store.restart();
            if (kind === "rollback") store.rollbackTo(Math.max(0, store.records.length - 1 - count));
          }
          const addresses = addressesOf(store.records);
          if (addresses.length > 0) {
            const address = addresses[pick % addresses.length]!;
            const query = { address, from, to: from + length, order, transactionsMin };
            assertSame(store.index, store.records, query);
          }
          store.work();
          assert.ok(store.index.waitingBlocks < 32);
          for (const address of addresses) {
            const all = { from: 0, to: 1_000, transactionsMin: 1_000 };
            assertSame(store.index, store.records, { address, order, ...all });
          }
          assert.deepEqual(store.check().faults, []);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("it is written once in 32 blocks, also where the deferred work runs after each", () => {
    const store = openTestStore();
    const indexed = Array.from({ length: 70 }, () => {
      store.append();
      store.work();
      return store.index.indexedBlocks;
    });
    assert.deepEqual([...new Set(indexed)], [0, 32, 64]);
    assert.equal(store.index.waitingBlocks, 6);
    store.restart();
    store.work();
    assert.equal(store.index.waitingBlocks, 0);
  });

  test("a build that is killed goes on where it was", () => {
    const store = openTestStore(false);
    for (let i = 0; i < 40; i++) store.append();
    store.restart(true);
    assert.equal(store.index.indexedBlocks, 0);
    const kv = createMemoryKv();
    const source = {
      head: () => store.records.length - 1,
      base: () => 0,
      block: (number: number) => store.records[number]!,
      parts: (number: number) => addressPartsOf(store.records[number]!),
    };
    const limits = { rowsMax: 10, sliceMs: 1_000, unindexedBlocksMax: 3 };
    const first = new AddressIndex(true, { kv, source }, limits);
    assert.equal(first.indexSome(), true);
    const built = first.indexedBlocks;
    assert.ok(built > 0 && built < 20);
    assert.throws(() => first.search({ ...EVERYTHING, address: NOBODY }), {
      code: "ADDRESS_INDEX_BUILDING",
    });
    const second = new AddressIndex(true, { kv, source }, limits);
    assert.equal(second.indexedBlocks, built);
    while (second.indexSome());
    for (const address of addressesOf(store.records)) {
      assertSame(second, store.records, { ...EVERYTHING, address });
    }
  });

  test("a block larger than a slice is written in several, and leaves no row when it is killed and rolled back in between", () => {
    const step = fc.constantFrom("index", "index", "index", "restart", "rollback", "append");
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (steps, rowsMax) => {
        const kv = createMemoryKv();
        let chain = new RandomChain(1);
        const records: BlockRecord[] = Array.from({ length: 10 }, () => chain.next().record);
        const source = {
          head: () => records.length - 1,
          base: () => 0,
          block: (number: number) => records[number]!,
          parts: (number: number) => addressPartsOf(records[number]!),
        };
        const limits = { rowsMax, sliceMs: 1_000, unindexedBlocksMax: 1_000 };
        const open = () => new AddressIndex(true, { kv, source }, limits);
        let index = open();
        const rowCount = () => [...kv.range({ from: Uint8Array.of(0), to: Uint8Array.of(255) })].length;
        for (const each of steps) {
          const before = rowCount();
          if (each === "index" && index.needsWork()) {
            index.indexSome();
            // The row of the progress is one more.
            assert.ok(rowCount() - before <= rowsMax + 1);
          }
          if (each === "restart") index = open();
          if (each === "append") records.push(chain.next().record);
          if (each === "rollback" && records.length > 3) {
            const last = records.length - 3;
            index.rollback(last, records.slice(last + 1));
            records.length = last + 1;
            chain = RandomChain.from(records.length + 100, records);
          }
        }
        while (index.needsWork()) index.indexSome();
        for (const address of addressesOf(records)) {
          assertSame(index, records, { ...EVERYTHING, address });
        }
        const entries = records.flatMap(entriesOf);
        assert.equal(rowCount(), entries.length + 1);
      }),
      { numRuns: 100 },
    );
  });

  test("a block that takes longer than a slice is decoded in several", () => {
    const chain = new RandomChain(1);
    const records = Array.from({ length: 20 }, () => chain.next().record);
    const largest = Math.max(...records.map(({ block }) => block.transactions.length));
    let decoded = 0;
    const source = {
      head: () => records.length - 1,
      base: () => 0,
      block: (number: number) => records[number]!,
      parts(number: number) {
        const parts = addressPartsOf(records[number]!);
        function* items() {
          for (const item of parts.items) {
            decoded++;
            yield item;
          }
        }
        return { ...parts, items: items() };
      },
    };
    const limits = { rowsMax: 1_000, sliceMs: 0, unindexedBlocksMax: 3 };
    const index = new AddressIndex(true, { kv: createMemoryKv(), source }, limits);
    let isMore = true;
    while (isMore) {
      const before = decoded;
      isMore = index.indexSome();
      assert.ok(decoded - before <= 1);
    }
    assert.ok(largest > 1);
    for (const address of addressesOf(records)) {
      assertSame(index, records, { ...EVERYTHING, address });
    }
  });

  test("blocks that are rolled back while the index is off leave no rows", () => {
    const store = openTestStore(true);
    for (let i = 0; i < 20; i++) store.append();
    store.work();
    store.restart(false);
    store.rollbackTo(10);
    for (let i = 0; i < 5; i++) store.append();
    assert.throws(() => store.index.search({ ...EVERYTHING, address: NOBODY }), {
      code: "ADDRESS_INDEX_OFF",
    });
    store.restart(true);
    store.work();
    for (const address of addressesOf(store.records)) {
      assertSame(store.index, store.records, { ...EVERYTHING, address });
    }
    assert.deepEqual(store.check().faults, []);
  });

  test("a failure to build stops searches and nothing else", () => {
    const store = openTestStore(true);
    for (let i = 0; i < 5; i++) store.append();
    store.index.fail(new Error("disk"));
    assert.equal(store.index.needsWork(), false);
    store.append();
    assert.throws(() => store.index.search({ ...EVERYTHING, address: NOBODY }), {
      code: "STORE_ADDRESS_INDEX",
    });
  });

  test("an account that changed for no visible reason belongs to the one transaction of its block, or to an unknown one", () => {
    const store = openTestStore();
    for (let i = 0; i < 30; i++) store.append();
    for (const record of store.records) {
      const touched = entriesOf(record).filter(({ roles }) => roles === ROLE.touched);
      const index = record.block.transactions.length === 1 ? 0 : UNKNOWN_INDEX;
      for (const entry of touched) assert.equal(entry.index, index);
    }
  });
});

const NOBODY = `0x${"99".repeat(20)}` as Address;
const EVERYTHING = { from: 0, to: 1_000, order: "newestFirst", transactionsMin: 1_000 } as const;
