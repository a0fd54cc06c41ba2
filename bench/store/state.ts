import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CACHE_BYTES, divideCacheSize } from "../../src/chain/store/cache-sizes.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import type { StateChanges } from "../../src/evm/state/reader.ts";
import { createStateTrie, type KnownState, type StateTrie } from "../../src/evm/state/state-trie.ts";
import { createWorldState } from "../../src/evm/state/world-state.ts";
import { META_OFFSET, PAGE_SIZE, TREE_OFFSET } from "../../src/store/storage/lmdb/lmdb-pages.ts";
import { printTable, updateResult } from "../support/report.ts";
import { addressOf, createTransferChain } from "./transfer-chain.ts";

type Store = ReturnType<typeof openDiskBlockStore>;
type Chain = ReturnType<typeof createTransferChain>;
type Row = Readonly<Record<string, string | number>>;
type Size = { readonly accounts: number; readonly holders: number };

const ACCOUNTS = [100_000, 1_000_000];
/** Holders of the token, as a share of the accounts. */
const HOLDERS = 1 / 10;
const PROOFS = 20;

/** What is measured: blocks of one kind, after which everything waiting is merged, or right after each other. */
const SERIES: readonly {
  readonly name: string;
  readonly transfers: number;
  readonly blocks: number;
  readonly isToken?: boolean;
  readonly isCold?: boolean;
  readonly isBackToBack?: boolean;
  /** The nodes that an update needs are read before it, as while a block waits for its time. */
  readonly isPrefetched?: boolean;
  /** Blocks, states and proofs that are stored; undefined: all. */
  readonly retained?: number;
}[] = [
  { name: "200 transfers", transfers: 200, blocks: 200 },
  { name: "2,000 transfers", transfers: 2_000, blocks: 40 },
  { name: "5,000 transfers", transfers: 5_000, blocks: 16 },
  { name: "5,000, prefetched", transfers: 5_000, blocks: 16, isPrefetched: true },
  { name: "2,000, prefetched", transfers: 2_000, blocks: 40, isPrefetched: true },
  { name: "5,000, back to back", transfers: 5_000, blocks: 16, isBackToBack: true },
  { name: "2,000 of a token", transfers: 2_000, blocks: 20, isToken: true },
  { name: "200, many blocks", transfers: 200, blocks: 2_000 },
  { name: "200, 128 retained", transfers: 200, blocks: 600, retained: 128 },
  { name: "2,000, cold pages", transfers: 2_000, blocks: 10, isCold: true },
];

/**
 * `npm run bench -- state [--home=DIRECTORY] [--holders=COUNT] [--build] [--series=NAME] [--blocks=COUNT] [ACCOUNTS …]`: blocks of transfers
 * between random accounts of a large state, on disk. Times of the processor but for those of `append` and of pauses, which are of the clock.
 * In parts: a home stays, and each run continues its chain; `--build` ends once it has all accounts and holders; each series replaces its row
 * in the results.
 */
export async function run(args: readonly string[]): Promise<void> {
  const sizes = args.filter((arg) => !arg.startsWith("--")).map(Number);
  const option = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const home = option("home");
  const chosen = option("series");
  const rows: Row[] = [];
  for (const accounts of sizes.length === 0 ? ACCOUNTS : sizes) {
    const directory = home ?? mkdtempSync(join(tmpdir(), "evmint-bench-"));
    mkdirSync(directory, { recursive: true });
    try {
      const size = { accounts, holders: Number(option("holders") ?? accounts * HOLDERS) };
      const built = build(directory, size);
      console.log(JSON.stringify({ ...size, ...built }));
      if (args.includes("--build")) continue;
      for (const series of SERIES) {
        if (chosen !== undefined && chosen !== series.name) continue;
        if (series.isCold && !dropPageCache()) continue;
        const blocks = Number(option("blocks") ?? series.blocks);
        rows.push({
          ...size,
          ...(await measure(directory, size, { ...series, blocks })),
          ...built,
        });
        printTable(rows.slice(-1));
        // After each: a run takes long, and what it has measured is worth having when it is stopped.
        updateResult("state", rows, (row) => `${row.accounts} ${row.holders} ${row.series}`);
      }
    } finally {
      if (home === undefined) rmSync(directory, { recursive: true });
    }
  }
  printTable(rows);
}

/** Writes a genesis block with the accounts and the holders of the token, where the store is empty. */
function build(directory: string, { accounts, holders }: Size): Row {
  const { store } = open(directory);
  const isNew = store.head() === undefined;
  const chain = createTransferChain(accounts, trieOf(store).trie, headOf(store), holders);
  const genesisMs = cpuMs(() => isNew && store.appendGenesis(chain.genesisState()));
  store.close();
  return isNew ? { "genesis us an account": (genesisMs * 1000) / (accounts + holders) } : {};
}

async function measure(
  directory: string,
  { accounts, holders }: Size,
  { name, transfers, blocks, isToken, isBackToBack, isPrefetched, retained }: (typeof SERIES)[number],
): Promise<Row> {
  const { store, idle, background } = open(directory, retained);
  const { trie, times } = trieOf(store, isPrefetched);
  const chain = createTransferChain(accounts, trie, headOf(store), holders);
  const block = (): ReturnType<Chain["empty"]> =>
    isToken ? chain.tokenTransfers(transfers) : chain.transfers(transfers);
  await idle();
  const before = sizesOf(directory);
  Object.assign(background, { cpuMs: 0, longestMs: 0 });
  const appends: number[] = [];
  const trieParts: number[] = [];
  let appendCpuMs = 0;
  let lastQuarter = before;
  for (let i = 0; i < blocks; i++) {
    if (i === blocks - (blocks >> 2)) lastQuarter = sizesOf(directory);
    const { record, nodes } = block();
    trieParts.push(times.ms);
    times.ms = 0;
    const wall = performance.now();
    appendCpuMs += cpuMs(() => store.append(record, nodes));
    appends.push(performance.now() - wall);
    if (isBackToBack) await new Promise((resolve) => setImmediate(resolve));
    else await idle();
  }
  await idle();
  const after = sizesOf(directory);
  const touched = times.touched;
  const trieMs = trieParts.reduce((sum, ms) => sum + ms, 0);
  appends.sort((a, b) => a - b);
  const at = (part: number) => appends[Math.floor(appends.length * part)]!;
  const total = blocks * transfers;
  const row = {
    series: name,
    blocks,
    "trie us an account": (trieMs * 1000) / touched,
    "trie ms": trieMs / blocks,
    "append cpu ms": appendCpuMs / blocks,
    "merge cpu ms": background.cpuMs / blocks,
    "append p50 ms": at(0.5),
    "p99 ms": at(0.99),
    "max ms": at(1 - 1e-9),
    "longest pause ms": background.longestMs,
    "log bytes a transfer": (after.log - before.log) / total,
    "index bytes a transfer": (after.index - before.index) / total,
    "of the last quarter": ((after.index - lastQuarter.index) / total) * 4,
    "free index MB": after.free / 1e6,
    ...oldProofs(store, accounts),
    ...memory(),
  };
  store.close();
  return row;
}

/** The store in `directory`, with what it does between blocks counted. */
function open(directory: string, retained?: number) {
  const background = { cpuMs: 0, longestMs: 0, pending: 0 };
  const store = openDiskBlockStore({
    directory,
    ...(retained && { retention: { blocks: retained, states: retained, proofs: retained } }),
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
  });
  const idle = async () => {
    while (background.pending > 0) await new Promise((resolve) => setImmediate(resolve));
  };
  return { store, idle, background };
}

/** The state trie as the node has it, with its updates counted. A slot that changes counts as an account. */
function trieOf(store: Store, isPrefetched = false) {
  const times = { ms: 0, touched: 0 };
  const stateTrie = createStateTrie(store.trieNodes, {
    cacheBytes: divideCacheSize(CACHE_BYTES).trieNodes,
  });
  const trie: StateTrie = {
    ...stateTrie,
    update(root, changes) {
      const known = knownOf(store, changes);
      for (const { address, storage } of isPrefetched ? changes.accounts : []) {
        stateTrie.prefetch(root, address, [...storage.keys()], known);
      }
      let update: ReturnType<StateTrie["update"]> | undefined;
      times.ms += cpuMs(() => {
        update = stateTrie.update(root, changes, known);
      });
      for (const { storage } of changes.accounts) times.touched += 1 + storage.size;
      return update!;
    },
  };
  return { trie, times };
}

/** What execution has read of the state when it is to be updated. */
function knownOf(store: Store, { accounts }: StateChanges): KnownState | undefined {
  const head = store.head();
  if (head === undefined) return undefined;
  const state = createWorldState(store.stateAt(head));
  for (const { address, storage } of accounts) {
    state.account(address);
    for (const slot of storage.keys()) state.storage(address, slot);
  }
  return state.readOfBase();
}

function headOf(store: Store) {
  const head = store.head();
  return head === undefined ? undefined : store.header(head);
}

/** Milliseconds of the first proof of one account at blocks all over the chain: nothing of them is in memory. */
function oldProofs(store: Store, accounts: number): Row {
  const base = store.proofBase();
  const blocks = store.head()! - base;
  const times: number[] = [];
  for (let i = 0; i < PROOFS; i++) {
    const number = base + Math.floor((blocks * (i + 0.5)) / PROOFS);
    const root = store.header(number)!.stateRoot;
    const address = addressOf((i * 7919) % accounts);
    times.push(
      cpuMs(() => {
        createStateTrie(store.trieNodesAt(number), { cacheBytes: 1 << 20 }).prove(root, address, []);
      }),
    );
  }
  times.sort((a, b) => a - b);
  return { "old proof p50 ms": times[PROOFS >> 1]!, "old proof max ms": times.at(-1)! };
}

/** Resident memory without the pages of the mapped index, which the system takes back when it needs them. */
function memory(): Row {
  const anonymous = /RssAnon:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return { "resident MB": Number(anonymous) / 1024 };
}

/** False where that is not permitted. */
function dropPageCache(): boolean {
  try {
    writeFileSync("/proc/sys/vm/drop_caches", "3");
    return true;
  } catch {
    return false;
  }
}

/** Bytes on disk, where a hole in the index takes none, and bytes of pages of the index that hold nothing. */
function sizesOf(directory: string) {
  const log = join(directory, "log");
  const index = join(directory, "index", "data.mdb");
  return {
    log: readdirSync(log).reduce((sum, file) => sum + statSync(join(log, file)).size, 0),
    index: statSync(index).blocks * 512,
    free: freePages(index) * PAGE_SIZE,
  };
}

/** Pages of an LMDB file that no tree has. */
function freePages(path: string): number {
  const metas = Buffer.alloc(2 * PAGE_SIZE);
  const file = openSync(path, "r");
  readSync(file, metas, 0, metas.length, 0);
  closeSync(file);
  const word = (meta: number, offset: number) => Number(metas.readBigUInt64LE(meta * PAGE_SIZE + offset));
  const { transaction, lastPage, mainTree, freeTree } = META_OFFSET;
  const newest = word(0, transaction) >= word(1, transaction) ? 0 : 1;
  let used = 2;
  for (const tree of [mainTree, freeTree]) {
    for (const kind of ["branches", "leaves", "overflows"] as const) {
      used += word(newest, tree + TREE_OFFSET[kind]);
    }
  }
  return word(newest, lastPage) + 1 - used;
}

function cpuMs(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
