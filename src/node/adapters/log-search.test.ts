import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { CountedSlices } from "../../../test/support/base/threads/counted-slices.ts";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../../base/primitives/address.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { SharedSlices } from "../../base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import { BlockLogs, encodeBlockLogs } from "../../chain/logs/block-logs.ts";
import { LOG_CHUNK_BLOCKS, LogFilter, type LogSource } from "../../chain/logs/log-filter.ts";
import { type JsonText, jsonString } from "../../rpc/transport/codec.ts";
import { findLogs } from "./log-search.ts";

const slices = new SharedSlices(fatalTimers);

const LIMITS = { resultsMax: 10_000, bytesMax: 20_000_000, workMax: 1_000_000 };
const address = `0x${"01".repeat(20)}` as Address;

/** Logs of one address, `countOf(number)` in each block; nothing is stored. */
function sourceOf(countOf: (number: number) => number, dataBytes = 4): LogSource {
  const log = { address, topics: [], data: new Uint8Array(dataBytes) };
  return {
    candidates: (_filter, from, to) =>
      Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((at) => countOf(at) > 0),
    logsOf(number) {
      const row = encodeBlockLogs({
        block: {
          hash: hashFromBigint(1n),
          header: { timestamp: 5 },
          transactions: [{ hash: hashFromBigint(2n) }],
        },
        receipts: [{ logs: Array(countOf(number)).fill(log) }],
      } as unknown as ExecutedBlock);
      return row && new BlockLogs(number, row);
    },
  };
}

/** Every block has one log, or is gone since it was a candidate. */
function endlessSource(isThere: (number: number) => boolean = () => true): LogSource {
  const { logsOf } = sourceOf((number) => (isThere(number) ? 1 : 0));
  return { ...sourceOf(() => 1), logsOf };
}

const numbersIn = (json: JsonText) =>
  (JSON.parse(jsonString(json)) as { blockNumber: string }[]).map(({ blockNumber }) => Number(blockNumber));

test("a search goes through chunks in order and stops between two blocks", async () => {
  const from = LOG_CHUNK_BLOCKS - 3;
  const whole = await findLogs(endlessSource(), new LogFilter(), { from, to: from + 5 }, LIMITS, slices);
  assert.deepEqual(
    numbersIn(whole.json),
    [0, 1, 2, 3, 4, 5].map((i) => from + i),
  );
  assert.deepEqual([whole.end, whole.limit, whole.count], [from + 6, undefined, 6]);

  const limits = { ...LIMITS, resultsMax: 4 };
  const part = await findLogs(endlessSource(), new LogFilter(), { from, to: from + 500 }, limits, slices);
  assert.deepEqual(
    numbersIn(part.json),
    [0, 1, 2, 3].map((i) => from + i),
  );
  assert.deepEqual([part.end, part.limit], [from + 4, "results"]);
});

test("a search that finds nothing ends at its work limit, and the next one goes on from there", async () => {
  const filter = new LogFilter({ addresses: [`0x${"02".repeat(20)}` as Address] });
  const limits = { ...LIMITS, workMax: 1_000 };
  let from = 0;
  let calls = 0;
  for (; from <= 200_000; calls++) {
    const { end, count } = await findLogs(endlessSource(), filter, { from, to: 200_000 }, limits, slices);
    assert.ok(end > from);
    assert.equal(count, 0);
    from = end;
  }
  assert.equal(from, 200_001);
  assert.ok(calls >= 190 && calls <= 210, String(calls));
});

test("a long search gives way to other work and ends once it is cancelled", async () => {
  const limits = { ...LIMITS, resultsMax: 10 ** 6, bytesMax: 10 ** 9 };
  const range = { from: 0, to: 199_999 };
  let turns = 0;
  let isDone = false;
  const stepping = new SharedSlices(new ManualTimers({ msPerLook: 1 }));
  const found = Promise.resolve(findLogs(endlessSource(), new LogFilter(), range, limits, stepping)).finally(() => {
    isDone = true;
  });
  for (; !isDone; turns++) await setImmediate();
  assert.equal((await found).count, 200_000);
  assert.ok(turns > 100, String(turns));

  const ended = findLogs(endlessSource(), new LogFilter(), range, limits, slices, { isAborted: true });
  await assert.rejects(async () => await ended, { code: "RPC_TIMEOUT" });
});

test("blocks that are rolled back during a search are passed over", async () => {
  const source = endlessSource((number) => number < 3);
  const { json } = await findLogs(source, new LogFilter(), { from: 0, to: 9 }, LIMITS, slices);
  assert.deepEqual(numbersIn(json), [0, 1, 2]);
});

test("a search that is overtaken by a rollback begins again, also after a failed read", async () => {
  const limits = { ...LIMITS, resultsMax: 10 ** 6, bytesMax: 10 ** 9 };
  const range = { from: 0, to: 199_999 };
  for (const fails of [false, true]) {
    let epoch = 0;
    const isThere = (number: number) => epoch === 0 || number < 3;
    const source = {
      ...endlessSource(isThere),
      epoch: () => epoch,
      logsOf(number: number) {
        if (number === 150_000 && epoch === 0) {
          epoch++;
          if (fails) throw new Error("the record is gone");
        }
        return endlessSource(isThere).logsOf(number);
      },
    };
    const { json, count } = await findLogs(source, new LogFilter(), range, limits, slices);
    assert.equal(count, 3);
    assert.deepEqual(numbersIn(json), [0, 1, 2]);
  }
});

test("a range that a limit cuts is answered whole up to where it was cut, whatever the limit", async () => {
  const step = fc.record({
    logs: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 120 }),
    // Only each such block has logs; the range may cross the border of two chunks.
    gap: fc.integer({ min: 1, max: 3 }),
    from: fc.integer({ min: LOG_CHUNK_BLOCKS - 200, max: LOG_CHUNK_BLOCKS + 5 }),
    resultsMax: fc.integer({ min: 1, max: 60 }),
    bytesMax: fc.integer({ min: 1, max: 20_000 }),
    workMax: fc.integer({ min: 1, max: 50 }),
  });
  await fc.assert(
    fc.asyncProperty(step, async ({ logs, gap, from, ...limits }) => {
      const countOf = (number: number) => (number % gap === 0 ? (logs[(number - from) % logs.length] ?? 0) : 0);
      const source = sourceOf(countOf);
      const to = from + logs.length - 1;
      const found: number[] = [];
      for (let start = from; start <= to; ) {
        const part = await findLogs(source, new LogFilter(), { from: start, to }, limits, slices);
        assert.ok(part.end > start && part.end <= to + 1);
        if (part.limit !== undefined) {
          const range = { from: start, to: part.end - 1 };
          const again = await findLogs(source, new LogFilter(), range, limits, slices);
          assert.equal(again.end, part.end);
          assert.equal(jsonString(again.json), jsonString(part.json));
        }
        found.push(...numbersIn(part.json));
        start = part.end;
      }
      const expected = Array.from({ length: logs.length }, (_, i) => Array<number>(countOf(from + i)).fill(from + i));
      assert.deepEqual(found, expected.flat());
    }),
    { numRuns: 200 },
  );
});

test("findLogs writes a quarter of a megabyte between two looks at the clock, of many blocks and within one", async () => {
  for (const [blocks, logs] of [
    [40, 15],
    [1, 60],
    [600, 1],
  ] as const) {
    const slices = new CountedSlices();
    const source = sourceOf(() => logs, 120_000);
    const bytesMax = 10 ** 9;
    const found = await findLogs(source, new LogFilter(), { from: 0, to: blocks - 1 }, { ...LIMITS, bytesMax }, slices);
    assert.equal(found.count, blocks * logs);
    const { length } = jsonString(found.json);
    assert.ok(slices.turns >= length / (256 << 10) - 1, `${length} bytes in ${slices.turns} turns`);
  }
});

test("findLogs ends within a block whose logs pass the limit of bytes, and forgets what it has of them", async () => {
  const slices = new CountedSlices();
  const source = sourceOf((number) => (number === 1 ? 100 : 1), 120_000);
  const limits = { ...LIMITS, bytesMax: 1_000_000 };
  const found = await findLogs(source, new LogFilter(), { from: 0, to: 2 }, limits, slices);
  assert.deepEqual([found.count, found.end, found.limit], [1, 1, "bytes"]);
  assert.deepEqual(numbersIn(found.json), [0]);
  // Four of the hundred logs pass it.
  assert.ok(slices.turns <= 8, `${slices.turns} turns`);
  const first = await findLogs(source, new LogFilter(), { from: 1, to: 2 }, limits, slices);
  assert.deepEqual([first.count, first.end, first.limit], [100, 2, "bytes"]);
});
