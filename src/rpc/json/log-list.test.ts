import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { BlockLogs, encodeBlockLogs } from "../../chain/logs/block-logs.ts";
import { LogFilter } from "../../chain/logs/log-filter.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { bytesToHex } from "../../primitives/hex.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { Log } from "../../types/receipt.ts";
import { LogListWriter } from "./log-list.ts";

const hexOf = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map(bytesToHex);
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
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const writer = new LogListWriter();
      const expected: object[] = [];
      for (const { block, isRemoved, isForgotten } of steps) {
        const row = rowOf(block);
        if (row === undefined) continue;
        const { count, length } = writer;
        const objects = objectsOf(block, isRemoved);
        const looked = writer.addMatching(
          new BlockLogs(block.number, row),
          new LogFilter(),
          isRemoved,
        );
        assert.equal(looked, objects.length);
        if (isForgotten) writer.rewind({ count, length });
        else expected.push(...objects);
        assert.equal(writer.count, expected.length);
      }
      const { length } = writer;
      const json = Buffer.concat(writer.finish());
      assert.equal(json.length, length + 1);
      assert.ok(json.equals(Buffer.from(JSON.stringify(expected))));
    }),
    { numRuns: 150 },
  );
});
