import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Address } from "../../src/base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../src/base/primitives/hash.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { SharedSlices } from "../../src/base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../../src/base/types/block.ts";
import type { Log } from "../../src/base/types/receipt.ts";
import { LOG_CHUNK_BLOCKS, LogFilter, type LogFilterOptions } from "../../src/chain/logs/log-filter.ts";
import { LogIndex, type LogMergeLimits } from "../../src/chain/logs/log-index.ts";
import { findLogs } from "../../src/node/adapters/log-search.ts";
import { jsonString } from "../../src/rpc/transport/codec.ts";
import type { Kv } from "../../src/store/storage/kv.ts";
import { openLmdbKv } from "../../src/store/storage/lmdb/lmdb-kv.ts";
import { median } from "../support/load.ts";
import { printTable, writeResult } from "../support/report.ts";

const slices = new SharedSlices(fatalTimers);

const LOGS_PER_BLOCK = 10;
const ADDRESSES = 50_000;
const EVENTS = 200;
const USERS = 500_000;
const ROUNDS = 21;
const LIMITS = { resultsMax: 10_000, bytesMax: 20_000_000, workMax: 1_000_000 };
const CHECKED_FILTERS = 1_000;

/**
 * Merging whole chunks writes each row once; a node, which merges every 512 blocks, writes most of them
 * many times over. The rows are the same.
 */
const BULK_LIMITS: LogMergeLimits = {
  blocksMin: LOG_CHUNK_BLOCKS,
  postingsMin: Number.POSITIVE_INFINITY,
  logBytesMin: Number.POSITIVE_INFINITY,
  rowsMax: 100_000,
};

/**
 * Searches for logs in a chain of a million blocks with ten logs each: contracts and events are as unevenly
 * used as on a public chain. No block is executed; index and stored logs are written in bulk.
 *
 *     npm run bench -- logs [--blocks N] [--keep DIR]
 *
 * With `--keep` the store stays in DIR and is used again, and made longer where it is too short.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { blocks: { type: "string", default: "1000000" }, keep: { type: "string" } },
  });
  const blocks = Number(values.blocks);
  const directory = values.keep ?? mkdtempSync(join(tmpdir(), "evmint-logs-"));
  const chain = createChain(blocks);
  const kv = openLmdbKv(directory);
  try {
    const index = build(kv, chain, blocks);
    const rows = await measure(index, chain, blocks);
    printTable(rows);
    writeResult("logs", rows);
    await crossCheck(index, chain, blocks);
  } finally {
    kv.close();
    if (values.keep === undefined) rmSync(directory, { recursive: true, force: true });
  }
}

/** The index of the first `blocks` blocks of `chain`, all of it in rows. */
function build(kv: Kv, chain: SyntheticChain, blocks: number): LogIndex {
  const index = new LogIndex(kv, BULK_LIMITS);
  const first = index.mergedBlocks;
  if (first >= blocks) return index;
  const begin = performance.now();
  for (let number = first; number < blocks; number++) {
    index.remember(chain.block(number));
    while (index.needsMerge()) index.mergeSome();
  }
  while (index.mergedBlocks < blocks) index.mergeSome();
  const seconds = ((performance.now() - begin) / 1000).toFixed(0);
  const added = blocks - first;
  console.log(`${added} blocks, ${added * LOGS_PER_BLOCK} logs indexed in ${seconds} s`);
  return index;
}

async function measure(index: LogIndex, chain: SyntheticChain, blocks: number) {
  const rare = chain.addressUsed(80);
  const middle = chain.addressUsed(2_000);
  const middleOfChain = Math.floor(blocks / 2);
  const queries: readonly (readonly [string, LogFilterOptions, number, number, number])[] = [
    ["rare address, whole chain", { addresses: [address(rare)] }, 0, blocks - 1, 2],
    ["one user's transfers, whole chain", { topics: [[], [user(777)]] }, 0, blocks - 1, 2],
    ["busiest address and one user", { addresses: [address(0)], topics: [[], [user(777)]] }, 0, blocks - 1, 2],
    ["2,000 logs of one address", { addresses: [address(middle)] }, 0, blocks - 1, 100],
    ["busiest address, 10,000 blocks", { addresses: [address(0)] }, middleOfChain, middleOfChain + 9_999, 25],
    ["busiest event, 2,000 blocks", { topics: [[event(0)]] }, middleOfChain, middleOfChain + 1_999, 25],
    ["busiest address, whole chain: capped", { addresses: [address(0)] }, 0, blocks - 1, 100],
    ["everything: capped", {}, 0, blocks - 1, 100],
  ];
  const rows = [];
  for (const [query, options, from, to, targetMs] of queries) {
    const times: number[] = [];
    const cpuTimes: number[] = [];
    let found = { count: 0, bytes: 0, first: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const cpuBefore = process.cpuUsage();
      const begin = performance.now();
      const filter = new LogFilter(options);
      const { count, json } = await findLogs(index, filter, { from, to: Math.min(to, blocks - 1) }, LIMITS, slices);
      // As it is copied when it is sent: until then a string may be no more than a list of its parts.
      const bytes = Buffer.from(jsonString(json), "latin1").length;
      times.push(performance.now() - begin);
      const { user, system } = process.cpuUsage(cpuBefore);
      cpuTimes.push((user + system) / 1000);
      found = { count, bytes, first: times[0]! };
    }
    rows.push({
      query,
      logs: String(found.count),
      KB: Math.round(found.bytes / 1000),
      "median ms": median(times),
      "first ms": found.first,
      "CPU ms": median(cpuTimes),
      "target ms": targetMs,
    });
  }
  return rows;
}

/** Compares random filters over random ranges with a scan of everything. */
async function crossCheck(index: LogIndex, chain: SyntheticChain, blocks: number): Promise<void> {
  const random = mulberry(99);
  let logs = 0;
  for (let i = 0; i < CHECKED_FILTERS; i++) {
    const length = 1 + Math.floor(random() * 3_000);
    const from = Math.floor(random() * (blocks - length));
    const to = from + length - 1;
    const pick = <T>(make: () => T) =>
      random() < 0.4 ? [] : Array.from({ length: 1 + Math.floor(random() * 3) }, make);
    const positions = Math.floor(random() * 4);
    const options = {
      addresses: pick(() => address(skewed(random(), ADDRESSES))),
      topics: [
        pick(() => event(skewed(random(), EVENTS))),
        pick(() => user(chain.userAt(from + Math.floor(random() * length)))),
        pick(() => user(chain.userAt(from + Math.floor(random() * length)))),
      ].slice(0, positions),
    };
    const filter = new LogFilter(options);
    const limits = { ...LIMITS, resultsMax: 10 ** 9, bytesMax: 10 ** 9 };
    const { json } = await findLogs(index, filter, { from, to }, limits, slices);
    const found = (JSON.parse(jsonString(json)) as FoundLog[]).map(
      ({ blockNumber, logIndex }) => `${Number(blockNumber)}/${Number(logIndex)}`,
    );
    const expected: string[] = [];
    for (let number = from; number <= to; number++) {
      let logIndex = 0;
      for (const log of chain.block(number).receipts[0]!.logs) {
        if (filter.matches(log)) expected.push(`${number}/${logIndex}`);
        logIndex++;
      }
    }
    if (found.join() !== expected.join()) {
      throw new Error(`filter ${JSON.stringify(options)} over ${from} to ${to} finds other logs than a scan`);
    }
    logs += found.length;
  }
  console.log(`${CHECKED_FILTERS} random filters find what a scan finds: ${logs} logs`);
}

type FoundLog = { readonly blockNumber: string; readonly logIndex: string };
type SyntheticChain = ReturnType<typeof createChain>;

/** Ids of the addresses, events and users of every log; a block is made of them when it is asked for. */
function createChain(blocks: number) {
  const random = mulberry(12_345);
  const count = blocks * LOGS_PER_BLOCK;
  const addresses = new Uint16Array(count);
  const events = new Uint8Array(count);
  const users = new Uint32Array(count * 2);
  const uses = new Uint32Array(ADDRESSES);
  for (let i = 0; i < count; i++) {
    addresses[i] = skewed(random(), ADDRESSES);
    events[i] = skewed(random(), EVENTS);
    users[i * 2] = Math.floor(random() * USERS);
    users[i * 2 + 1] = Math.floor(random() * USERS);
    uses[addresses[i]!]!++;
  }
  return {
    block(number: number): Pick<ExecutedBlock, "block" | "receipts"> {
      const logs: Log[] = [];
      for (let i = number * LOGS_PER_BLOCK; i < (number + 1) * LOGS_PER_BLOCK; i++) {
        logs.push({
          address: address(addresses[i]!),
          topics: [event(events[i]!), user(users[i * 2]!), user(users[i * 2 + 1]!)],
          data: new Uint8Array(32),
        });
      }
      const hash = hashFromBigint(BigInt(number + 1));
      return {
        block: {
          hash,
          header: { number, timestamp: 1_700_000_000 + number },
          transactions: [{ hash }],
        },
        receipts: [{ logs }],
      } as unknown as Pick<ExecutedBlock, "block" | "receipts">;
    },
    userAt: (number: number) => users[number * LOGS_PER_BLOCK * 2]!,
    /** The address that is in about `wanted` logs. */
    addressUsed(wanted: number): number {
      let best = 0;
      for (let id = 0; id < ADDRESSES; id++) {
        if (Math.abs(uses[id]! - wanted) < Math.abs(uses[best]! - wanted)) best = id;
      }
      return best;
    },
  };
}

/** Few ids take most of the picks. */
function skewed(random: number, count: number): number {
  return Math.floor(count * random ** 4);
}

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const address = remembered((id) => `0x${spread(id).slice(0, 40)}` as Address);
const event = remembered((id) => `0x${spread(id + 10 ** 6)}` as Hash);
const user = remembered((id) => `0x${"0".repeat(24)}${spread(id + 10 ** 7).slice(0, 40)}` as Hash);

/** Making names would take longer than what is measured. */
function remembered<T>(make: (id: number) => T): (id: number) => T {
  const known: T[] = [];
  return (id) => {
    known[id] ??= make(id);
    return known[id];
  };
}

/** 64 hex digits that look as if drawn at random. */
function spread(id: number): string {
  const word = (Math.imul(id + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
  return `${word}${id.toString(16).padStart(8, "0")}`.repeat(4);
}
