import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../../base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../base/primitives/hash.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import type { Log } from "../../base/types/receipt.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import { LOG_CHUNK_BLOCKS, LogFilter, type LogFilterOptions, type LogSource } from "./log-filter.ts";
import { LogIndex } from "./log-index.ts";

const LIMITS = { blocksMin: 5, postingsMin: 40, logBytesMin: 4_000, rowsMax: 3 };
const address = (id: number) => `0x${id.toString(16).padStart(40, "0")}` as Address;
const topic = (id: number) => hashFromBigint(BigInt(id));

/** A block that holds nothing but what the log index looks at. */
function blockOf(number: number, logs: readonly (readonly Log[])[]) {
  const transactions = logs.map((_, index) => ({ hash: topic(number * 100 + index) }));
  const block = {
    hash: topic(number),
    header: { number, timestamp: 1_000 + number },
    transactions,
  };
  return { block, receipts: logs.map((list) => ({ logs: list })) } as unknown as Pick<
    ExecutedBlock,
    "block" | "receipts"
  >;
}

type Found = { readonly number: number; readonly logIndex: number };

/** Every log that matches, as the search of `eth_getLogs` finds it. */
function search(source: LogSource, filter: LogFilter, from: number, to: number): Found[] {
  const found: Found[] = [];
  for (let start = from; start <= to; ) {
    const end = Math.min(to, (Math.floor(start / LOG_CHUNK_BLOCKS) + 1) * LOG_CHUNK_BLOCKS - 1);
    for (const number of source.candidates(filter, start, end)) {
      const logs = source.logsOf(number)!;
      while (logs.next()) {
        if (filter.matchesAt(logs)) found.push({ number, logIndex: logs.logIndex });
      }
    }
    start = end + 1;
  }
  return found;
}

function scan(
  blocks: readonly Pick<ExecutedBlock, "block" | "receipts">[],
  { addresses = [], topics = [] }: LogFilterOptions,
  from: number,
  to: number,
): Found[] {
  const found: Found[] = [];
  for (const { block, receipts } of blocks) {
    const { number } = block.header;
    let logIndex = 0;
    for (const log of receipts.flatMap(({ logs }) => logs)) {
      const matches =
        number >= from &&
        number <= to &&
        (addresses.length === 0 || addresses.includes(log.address)) &&
        topics.length <= log.topics.length &&
        topics.every((terms, i) => terms.length === 0 || terms.includes(log.topics[i]!));
      if (matches) found.push({ number, logIndex });
      logIndex++;
    }
  }
  return found;
}

function postingsOf(blocks: readonly Pick<ExecutedBlock, "block" | "receipts">[]): number {
  const index = new LogIndex(createMemoryKv(), LIMITS);
  for (const block of blocks) index.remember(block);
  return index.postingCount();
}

const id = fc.integer({ min: 1, max: 4 });
const logArbitrary = fc
  .record({
    address: id,
    topics: fc.array(id, { maxLength: 4 }),
    data: fc.uint8Array({ maxLength: 40 }),
  })
  .map(
    (log): Log => ({
      address: address(log.address),
      topics: log.topics.map(topic),
      data: log.data,
    }),
  );
const blockArbitrary = fc.array(fc.array(logArbitrary, { maxLength: 3 }), { maxLength: 3 });
const filterArbitrary = fc.record({
  addresses: fc.array(id.map(address), { maxLength: 2 }),
  topics: fc.array(fc.array(id.map(topic), { maxLength: 2 }), { maxLength: 4 }),
});

describe("LogIndex", () => {
  test("finds what a scan finds, whatever is merged, pruned, rolled back and reopened", () => {
    const operation = fc.oneof(
      { weight: 6, arbitrary: fc.record({ append: blockArbitrary }) },
      { weight: 4, arbitrary: fc.record({ merge: fc.integer({ min: 1, max: 6 }) }) },
      { weight: 1, arbitrary: fc.record({ rollback: fc.double({ min: 0, max: 1, noNaN: true }) }) },
      { weight: 1, arbitrary: fc.record({ prune: fc.integer({ min: 1, max: 10 }) }) },
      { weight: 1, arbitrary: fc.constant({ reopen: true as const }) },
    );
    fc.assert(
      fc.property(
        // The numbers cross the border between two chunks.
        fc.integer({ min: LOG_CHUNK_BLOCKS - 20, max: LOG_CHUNK_BLOCKS + 1 }),
        fc.array(operation, { maxLength: 40 }),
        fc.array(filterArbitrary, { minLength: 4, maxLength: 4 }),
        (first, operations, filters) => {
          const kv = createMemoryKv();
          let index = new LogIndex(kv, LIMITS);
          let blocks = [blockOf(first, [])];
          index.remember(blocks[0]!);
          /** Blocks, from `first`, that are pruned. */
          let pruned = 0;
          for (const step of operations) {
            if ("append" in step) {
              const block = blockOf(first + blocks.length, step.append);
              blocks.push(block);
              index.remember(block);
            } else if ("merge" in step) {
              for (let i = 0; i < step.merge && index.needsMerge(); i++) index.mergeSome();
            } else if ("prune" in step) {
              const base = Math.min(first + pruned + step.prune, index.mergedBlocks - 1);
              for (; first + pruned < base; pruned++) {
                for (const prune of index.pruneSteps(blocks[pruned]!, base)) kv.transaction(prune);
              }
            } else if ("reopen" in step) {
              index = new LogIndex(kv, LIMITS);
              for (const block of blocks) index.remember(block);
            } else {
              const left = blocks.length - 1 - pruned;
              const kept = blocks.slice(0, 1 + pruned + Math.floor(step.rollback * left));
              const removed = blocks.slice(kept.length);
              kv.transaction(index.rollback(first + kept.length - 1, removed));
              blocks = kept;
            }
          }
          const last = first + blocks.length - 1;
          const base = first + pruned;
          const served = blocks.slice(pruned);
          for (const options of [{}, ...filters]) {
            const filter = new LogFilter(options);
            assert.deepEqual(search(index, filter, base, last), scan(served, options, base, last));
            const middle = base + (served.length >> 1);
            assert.deepEqual(search(index, filter, middle, last), scan(blocks, options, middle, last));
          }
          assert.equal(
            index.blockCount(),
            served.filter(({ receipts }) => receipts.some(({ logs }) => logs.length > 0)).length,
          );
          assert.equal(index.postingCount(), postingsOf(served));
        },
      ),
      { numRuns: 300 },
    );
  });

  test("a topic that shares its fold with another is found under neither's name", () => {
    const index = new LogIndex(createMemoryKv(), LIMITS);
    const twin = `0x${"00".repeat(15)}07${"00".repeat(16)}` as Hash;
    const logs = [{ address: address(1), topics: [topic(7)], data: new Uint8Array() }];
    index.remember(blockOf(0, [logs]));
    const filter = new LogFilter({ topics: [[twin]] });
    assert.deepEqual(index.candidates(filter, 0, 0), [0]);
    assert.deepEqual(search(index, filter, 0, 0), []);
    assert.equal(search(index, new LogFilter({ topics: [[topic(7)]] }), 0, 0).length, 1);
  });

  test("an empty position still asks for a topic", () => {
    const index = new LogIndex(createMemoryKv(), LIMITS);
    index.remember(
      blockOf(0, [
        [
          { address: address(1), topics: [], data: new Uint8Array() },
          { address: address(1), topics: [topic(1)], data: new Uint8Array(3) },
        ],
      ]),
    );
    assert.deepEqual(search(index, new LogFilter({ topics: [[]] }), 0, 0), [{ number: 0, logIndex: 1 }]);
    assert.equal(search(index, new LogFilter(), 0, 0).length, 2);
  });
});
