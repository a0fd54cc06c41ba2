import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type DiskBlockStoreOptions,
  openDiskBlockStore,
} from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/state/merkle-state-trie.ts";
import type { StateTrie } from "../../src/state/state-trie.ts";
import { printTable, writeResult } from "../support/report.ts";
import { createTransferChain } from "./transfer-chain.ts";

/** Blocks measured for each number of transfers in one. */
const BLOCKS: readonly (readonly [transfers: number, blocks: number])[] = [
  [200, 200],
  [2_000, 40],
  [5_000, 16],
];
const ACCOUNTS = [100_000, 1_000_000];
const ACCOUNTS_LARGE = 10_000_000;
const PROOFS = 20;

type Row = Readonly<Record<string, string | number>>;

/**
 * `npm run bench -- state [--large] [ACCOUNTS …]`: blocks of transfers between random accounts of a large state, on disk.
 * Times of the processor but for those of `append` and of pauses, which are of the clock. `--large` adds 10 million accounts.
 */
export async function run(args: readonly string[]): Promise<void> {
  const sizes = args.filter((arg) => !arg.startsWith("--")).map(Number);
  if (sizes.length === 0) sizes.push(...ACCOUNTS);
  if (args.includes("--large")) sizes.push(ACCOUNTS_LARGE);
  const rows: Row[] = [];
  for (const accounts of sizes) rows.push(...(await measure(accounts)));
  printTable(rows);
  writeResult("state", rows);
}

async function measure(accounts: number): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const background = { cpuMs: 0, longestMs: 0, pending: 0 };
  const options: DiskBlockStoreOptions = {
    directory,
    createTrie: createStateTrie,
    defer(work) {
      background.pending++;
      setImmediate(() => {
        background.pending--;
        const wall = performance.now();
        background.cpuMs += cpuMs(work);
        background.longestMs = Math.max(background.longestMs, performance.now() - wall);
      });
    },
  };
  const idle = async () => {
    while (background.pending > 0) await new Promise((resolve) => setImmediate(resolve));
  };
  const store = openDiskBlockStore(options);
  try {
    let trieMs = 0;
    let touched = 0;
    const stateTrie = createStateTrie(store.trieNodes);
    const measured: StateTrie = {
      ...stateTrie,
      update(root, changes) {
        let update: ReturnType<StateTrie["update"]> | undefined;
        trieMs += cpuMs(() => {
          update = stateTrie.update(root, changes);
        });
        touched += changes.accounts.length;
        return update!;
      },
    };
    const chain = createTransferChain(accounts, measured);
    const genesis = chain.genesis();
    const genesisTrieMs = trieMs;
    const genesisAppendMs = cpuMs(() => store.append(genesis.record, genesis.nodes));
    const rows: Row[] = [];
    for (const [transfers, blocks] of BLOCKS) {
      if (rows.length > 0) await idle();
      Object.assign(background, { cpuMs: 0, longestMs: 0 });
      trieMs = 0;
      touched = 0;
      let appendCpuMs = 0;
      const appends: number[] = [];
      const before = sizesOf(directory);
      for (let i = 0; i < blocks; i++) {
        const { record, nodes } = chain.transfers(transfers);
        const wall = performance.now();
        appendCpuMs += cpuMs(() => store.append(record, nodes));
        appends.push(performance.now() - wall);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await idle();
      const after = sizesOf(directory);
      const slowest = appends.indexOf(Math.max(...appends));
      appends.sort((a, b) => a - b);
      const at = (part: number) => appends[Math.floor(appends.length * part)]!;
      const total = blocks * transfers;
      rows.push({
        accounts,
        transfers,
        blocks,
        "trie us an account": (trieMs * 1000) / touched,
        "append cpu ms": appendCpuMs / blocks,
        "merge cpu ms": background.cpuMs / blocks,
        "append p50 ms": at(0.5),
        "p99 ms": at(0.99),
        "max ms": at(1 - 1e-9),
        "of block": slowest,
        "longest pause ms": background.longestMs,
        "log bytes a transfer": (after.log - before.log) / total,
        "index bytes a transfer": (after.index - before.index) / total,
        "genesis trie ms": genesisTrieMs,
        "genesis append ms": genesisAppendMs,
        ...(await oldProofs(store, chain.addresses)),
        "rss MB": process.memoryUsage().rss / 2 ** 20,
      });
      printTable(rows.slice(-1));
    }
    return rows;
  } finally {
    store.close();
    rmSync(directory, { recursive: true });
  }
}

/** Milliseconds of the first proof of one account at blocks all over the chain: nothing of them is in memory. */
async function oldProofs(
  store: ReturnType<typeof openDiskBlockStore>,
  addresses: readonly Parameters<StateTrie["prove"]>[1][],
): Promise<Row> {
  const head = store.head()!;
  const times: number[] = [];
  for (let i = 0; i < PROOFS; i++) {
    const number = Math.floor((head * (i + 0.5)) / PROOFS);
    const root = store.headerAt(number)!.stateRoot;
    const address = addresses[(i * 7919) % addresses.length]!;
    times.push(
      cpuMs(() => {
        createStateTrie(store.trieNodesAt(number)).prove(root, address, []);
      }),
    );
  }
  times.sort((a, b) => a - b);
  return { "old proof p50 ms": times[PROOFS >> 1]!, "old proof max ms": times.at(-1)! };
}

/** Bytes on disk: a hole in the index takes none. */
function sizesOf(directory: string): { readonly log: number; readonly index: number } {
  const log = join(directory, "log");
  return {
    log: readdirSync(log).reduce((sum, file) => sum + statSync(join(log, file)).size, 0),
    index: statSync(join(directory, "index", "data.mdb")).blocks * 512,
  };
}

function cpuMs(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
