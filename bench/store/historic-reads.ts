/**
 * Reads of old blocks and states: `npm run bench -- historic-reads [--build] [BLOCKS] [DIRECTORY]`.
 *
 * A chain of a million blocks, one in a hundred with four transfers of a token. What is read one, 1,000 and 100,000 blocks before the head, each
 * time of another account, in milliseconds of the clock: the median of warm reads, and the mean of the first ones after the system has dropped its caches, where
 * this process may make it do so. A DIRECTORY that has the chain is used as it is; a new one is left. In parts: with a DIRECTORY
 * and `--build` the first run ends with the block log, the second with the index, which it makes of it.
 */

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { SharedSlices } from "../../src/base/threads/shared-slices.ts";
import { createChainStateTrie } from "../../src/chain/chain-state-trie.ts";
import { LogFilter } from "../../src/chain/logs/log-filter.ts";
import { encodeBlockRecord } from "../../src/chain/records/block-record.ts";
import { deferNothing } from "../../src/chain/store/background-work.ts";
import type { LogBlockStore } from "../../src/chain/store/log-block-store.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { findLogs } from "../../src/node/adapters/log-search.ts";
import { openBlockLog } from "../../src/store/storage/log/block-log.ts";
import { openLogDirectory } from "../../src/store/storage/log/log-file.ts";
import { createMemoryNodes } from "../../test/support/store/trie/memory-nodes.ts";
import { printTable, writeResult } from "../support/report.ts";
import { addressOf, createTransferChain, TOKEN, tokenSlot } from "./transfer-chain.ts";

const slices = new SharedSlices(fatalTimers);

const ACCOUNTS = 20_000;
const TRANSFERS = 4;
/** One block in so many has transfers. */
const BUSY_EVERY = 100;
const DISTANCES = [1, 1_000, 100_000];
/** A hundred logs. */
const LOG_PAGE_BLOCKS = 25 * BUSY_EVERY;
const WARM_READS = 500;
const WARM_PROOFS = 40;
const COLD_READS = 20;
const LOG_LIMITS = { resultsMax: 10_000, bytesMax: 20 << 20, workMax: 1_000_000 };
const DROP_CACHES = "/proc/sys/vm/drop_caches";

type Row = {
  readonly read: string;
  readonly "blocks back": number;
  readonly "warm ms": number;
  readonly "cold ms": number | string;
};

export async function run(args: readonly string[]): Promise<void> {
  const [blocksText = "1000000", existing] = args.filter((arg) => !arg.startsWith("--"));
  const isBuild = args.includes("--build");
  const blocks = Number(blocksText);
  const directory = existing ?? mkdtempSync(join(tmpdir(), "evmint-bench-"));
  try {
    if (!existsSync(join(directory, "log"))) {
      writeChain(directory, blocks);
      if (isBuild) return;
    }
    open(directory).close();
    if (isBuild) return;
    const rows: Row[] = [];
    for (const distance of DISTANCES.filter((each) => each + WARM_PROOFS * BUSY_EVERY < blocks)) {
      for (const [read, count] of [
        ["balance", WARM_READS],
        ["storage slot", WARM_READS],
        ["receipt", WARM_READS],
        ["page of logs", WARM_READS],
        ["first proof at a block", WARM_PROOFS],
      ] as const) {
        const from = { directory, distance };
        const cold = await measure(read, from, COLD_READS, dropCaches);
        const warm = await measure(read, from, count, () => true);
        rows.push({
          read,
          "blocks back": distance,
          "warm ms": median(warm!),
          "cold ms": cold === undefined ? "-" : mean(cold),
        });
        console.log(JSON.stringify(rows.at(-1)));
      }
    }
    printTable(rows);
    writeResult("historic-reads", rows, { blocks, accounts: ACCOUNTS });
  } finally {
    if (existing === undefined) rmSync(directory, { recursive: true, force: true });
  }
}

function open(directory: string): LogBlockStore {
  return openDiskBlockStore({ defer: deferNothing, directory, createTrie: createStateTrie });
}

/** Writes the block log alone: opening the store makes the index. */
function writeChain(directory: string, blocks: number): void {
  const log = openBlockLog({ directory: openLogDirectory(join(directory, "log")) });
  const nodes = createMemoryNodes();
  const chain = createTransferChain(ACCOUNTS, createStateTrie(nodes));
  for (let number = 0; number < blocks; number++) {
    const made =
      number === 0 ? chain.genesis() : number % BUSY_EVERY === 0 ? chain.loggedTransfers(TRANSFERS) : chain.unchanged();
    nodes.keep(made.nodes);
    log.appendUnsynced(encodeBlockRecord(made.record, new Set()));
  }
  log.sync();
  log.close();
}

/** False where only the superuser may. */
function dropCaches(): boolean {
  try {
    writeFileSync(DROP_CACHES, "3");
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds of each of `count` reads, on a store that was just opened; undefined where `prepare` is false. */
async function measure(
  read: string,
  { directory, distance }: { readonly directory: string; readonly distance: number },
  count: number,
  prepare: () => boolean,
): Promise<readonly number[] | undefined> {
  // Opening reads the whole index, so what `prepare` does comes after it.
  const store = open(directory);
  try {
    if (!prepare()) return undefined;
    const trie = createChainStateTrie(store);
    const target = store.head()! - distance;
    const busy = target - (target % BUSY_EVERY);
    const work: Readonly<Record<string, (account: number, i: number) => unknown>> = {
      balance: (account) => store.stateAt(target).account(addressOf(account)),
      "storage slot": (account) => store.stateAt(target).storage(TOKEN, tokenSlot(account)),
      receipt: (_account, i) => store.transactionAt(busy - BUSY_EVERY * (i % 20), i % TRANSFERS),
      "page of logs": () =>
        findLogs(
          store.logs,
          new LogFilter({ addresses: [TOKEN] }),
          { from: busy - LOG_PAGE_BLOCKS + 1, to: busy },
          LOG_LIMITS,
          slices,
        ),
      "first proof at a block": (account, i) =>
        trie.prove(store.header(busy - BUSY_EVERY * i)!.stateRoot, addressOf(account), []),
    };
    const run = work[read]!;
    const times: number[] = [];
    for (let i = 0; i < count; i++) {
      const account = (i * 7_919) % ACCOUNTS;
      const start = performance.now();
      await run(account, i);
      times.push(performance.now() - start);
    }
    return times;
  } finally {
    store.close();
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
