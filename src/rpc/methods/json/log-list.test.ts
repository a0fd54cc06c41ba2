import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import type { Log } from "../../../base/types/receipt.ts";
import { BlockLogs, encodeBlockLogs } from "../../../chain/logs/block-logs.ts";
import { LogFilter, type LogFilterOptions } from "../../../chain/logs/log-filter.ts";
import { jsonString } from "../../transport/codec.ts";
import { LogListWriter } from "./log-list.ts";
import { LogTextCache } from "./log-text-cache.ts";

const hexOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(bytesToHex);
const index = fc.integer({ min: 0, max: 2 ** 32 });
/** From nothing to more than a part holds. */
const data = fc.oneof(
  { weight: 8, arbitrary: fc.uint8Array({ maxLength: 70 }) },
  { weight: 2, arbitrary: fc.integer({ max: 40_000, min: 0 }).map((n) => new Uint8Array(n)) },
);
const log: fc.Arbitrary<Log> = fc.record({
  address: hexOf(20) as fc.Arbitrary<Address>,
  topics: fc.array(hexOf(32) as fc.Arbitrary<Hash>, { maxLength: 4 }),
  data,
});
const block = fc.record({
  number: index,
  timestamp: index,
  hash: hexOf(32),
  transactions: fc.array(fc.record({ hash: hexOf(32), logs: fc.array(log, { maxLength: 12 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
});
type Block = typeof block extends fc.Arbitrary<infer T> ? T : never;

const quantity = (value: number) => `0x${value.toString(16)}`;

function rowOf({ number, timestamp, hash, transactions }: Block): Uint8Array | undefined {
  return encodeBlockLogs({
    block: { hash, header: { number, timestamp }, transactions },
    receipts: transactions,
  } as unknown as ExecutedBlock);
}

function objectsOf({ number, timestamp, hash, transactions }: Block, removed: boolean) {
  const all = transactions.flatMap((tx, i) => tx.logs.map((log) => ({ log, tx, i })));
  return all.map(({ log: { address, topics, data }, tx, i }, logIndex) => ({
    address,
    topics,
    data: bytesToHex(data),
    blockNumber: quantity(number),
    transactionHash: tx.hash,
    transactionIndex: quantity(i),
    blockHash: hash,
    blockTimestamp: quantity(timestamp),
    logIndex: quantity(logIndex),
    removed,
  }));
}

test("LogListWriter writes what JSON.stringify writes, and forgets a block as if it had not been there", () => {
  const step = fc.record({ block, isRemoved: fc.boolean(), isForgotten: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), fc.constantFrom(1, 1_000, 100_000), (steps, bytesMax) => {
      const writer = new LogListWriter();
      const expected: object[] = [];
      for (const { block, isRemoved, isForgotten } of steps) {
        const row = rowOf(block);
        if (row === undefined) continue;
        const { count, length } = writer;
        const objects = objectsOf(block, isRemoved);
        const logs = new BlockLogs(block.number, row);
        // In parts, as a search that gives way to other work.
        while (!writer.addMatching(logs, new LogFilter(), isRemoved, bytesMax));
        assert.equal(logs.logIndex + 1, objects.length);
        if (isForgotten) writer.rewind({ count, length });
        else expected.push(...objects);
        assert.equal(writer.count, expected.length);
      }
      const { length } = writer;
      const json = Buffer.from(jsonString(writer.finish()));
      assert.equal(json.length, length + 1);
      assert.ok(json.equals(Buffer.from(JSON.stringify(expected))));
    }),
    { numRuns: 150 },
  );
});

/** One of some filters that match `first`, and perhaps `second`. */
function wanted(choice: number, first: Log, second: Log): LogFilterOptions {
  if (choice < 3) return {};
  if (choice < 5) return { addresses: [first.address] };
  const topics = first.topics.map((topic, i) => (i % 2 === 0 ? [topic] : []));
  if (choice < 7) return { topics };
  const either = first.topics.map((topic, i) => [topic, second.topics[i] ?? topic]);
  return { addresses: [first.address, second.address], topics: either };
}

/** The list that a search writes, with what the cache holds of its block. */
function searched(cache: LogTextCache | undefined, number: number, row: Uint8Array, filter: LogFilter) {
  const writer = new LogListWriter();
  const logs = new BlockLogs(number, row);
  const texts = cache?.of(logs);
  if (texts === undefined) writer.addMatching(logs, filter);
  const count = texts === undefined ? logs.logIndex + 1 : writer.addKnown(texts, filter);
  return { json: jsonString(writer.finish()), count, isKnown: texts !== undefined };
}

test("with a cache of their texts the same logs are written, whatever is searched and rolled back, within its bytes", () => {
  const search = fc.record({
    block: fc.nat({ max: 3 }),
    choice: fc.nat({ max: 9 }),
    isOther: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(block, { minLength: 4, maxLength: 4 }),
      fc.array(search, { maxLength: 40 }),
      fc.integer({ min: 1_000, max: 200_000 }),
      (blocks, searches, bytesMax) => {
        const cache = new LogTextCache(bytesMax);
        for (const { block, choice, isOther } of searches) {
          const chosen = blocks[block]!;
          // Another block of the same number, as after a rollback.
          const row = rowOf(isOther ? { ...chosen, hash: `0x${"77".repeat(32)}` } : chosen);
          if (row === undefined) continue;
          const [first, second] = chosen.transactions.flatMap(({ logs }) => logs);
          const filter = new LogFilter(first === undefined ? {} : wanted(choice, first, second ?? first));
          const { json, count } = searched(cache, block, row, filter);
          const expected = searched(undefined, block, row, filter);
          assert.equal(json, expected.json);
          assert.equal(count, expected.count);
          assert.ok(cache.bytes <= bytesMax);
        }
      },
    ),
    { numRuns: 200 },
  );
});

test("a block's texts are cached from its second search on, and those of a search of many blocks are not", () => {
  const cache = new LogTextCache(1 << 20);
  const row = encodeBlockLogs({
    block: {
      hash: `0x${"11".repeat(32)}`,
      header: { timestamp: 5 },
      transactions: [{ hash: `0x${"22".repeat(32)}` }],
    },
    receipts: [{ logs: [{ address: `0x${"33".repeat(20)}`, topics: [], data: new Uint8Array(9) }] }],
  } as unknown as ExecutedBlock)!;
  const isKnown = (number: number) => searched(cache, number, row, new LogFilter()).isKnown;
  assert.deepEqual([isKnown(7), isKnown(7), isKnown(7)], [false, true, true]);
  const { bytes } = cache;
  for (let number = 10_000; number < 13_000; number++) assert.equal(isKnown(number), false);
  for (let number = 10_000; number < 11_000; number++) assert.equal(isKnown(number), false);
  assert.equal(cache.bytes, bytes);
});
