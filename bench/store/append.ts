import { existsSync, mkdirSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { CACHE_BYTES, divideCacheSize } from "../../src/chain/store/cache-sizes.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import type { Kv } from "../../src/store/storage/kv.ts";
import { openLmdbKv } from "../../src/store/storage/lmdb/lmdb-kv.ts";
import { printTable, updateResult } from "../support/report.ts";
import { createTransferChain } from "./transfer-chain.ts";

const ACCOUNTS = 1_000_000;
/** Blocks before those that are measured: V8 compiles, and arrays grow to the size of a merge. */
const WARM_UP = 50;

/** Blocks that follow each other; those with the same number of transfers have a row. */
const SERIES: readonly {
  readonly name: string;
  readonly blocks: number;
  readonly transfers: (block: number) => number;
  /** What is done between blocks has one turn of the event loop, and is not done to its end. */
  readonly isBackToBack?: boolean;
  /** Blocks, states and proofs that are stored; undefined: all. */
  readonly retained?: number;
}[] = [
  { name: "200", blocks: 2_000, transfers: () => 200 },
  { name: "5,000", blocks: 200, transfers: () => 5_000 },
  { name: "mixed", blocks: 1_000, transfers: mixed },
  { name: "back to back", blocks: 1_000, transfers: mixed, isBackToBack: true },
  { name: "128 retained", blocks: 1_000, transfers: mixed, retained: 128 },
];

/** Each tenth is large: what it leaves behind is another one's pause. */
function mixed(block: number): number {
  return block % 10 === 0 ? 5_000 : 200;
}

/**
 * `npm run bench -- append [--home=DIRECTORY] [--series=NAME] [--blocks=COUNT] [--accounts=COUNT]`: how long adding a block holds up the chain's thread, from
 * the end of its execution to the published head, and how long what is done between blocks does, on a disk with a million accounts.
 * Milliseconds of the clock, without those for which the thread waited for a processor.
 */
export async function run(args: readonly string[]): Promise<void> {
  const option = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const home = option("home");
  const accounts = Number(option("accounts") ?? ACCOUNTS);
  const directory = home ?? mkdtempSync(join(tmpdir(), "evmint-bench-"));
  mkdirSync(directory, { recursive: true });
  try {
    for (const series of SERIES) {
      if (option("series") !== undefined && option("series") !== series.name) continue;
      const rows = await measure(directory, accounts, {
        ...series,
        blocks: Number(option("blocks") ?? series.blocks),
      });
      printTable(rows);
      updateResult("append", rows, (row) => `${row.accounts} ${row.series} ${row.transfers}`);
    }
  } finally {
    if (home === undefined) rmSync(directory, { recursive: true });
  }
}

async function measure(directory: string, accounts: number, series: (typeof SERIES)[number]) {
  const { name, blocks, transfers, isBackToBack = false, retained } = series;
  const probe = new StoreProbe();
  let pending = 0;
  const store = openDiskBlockStore({
    directory,
    ...(retained && { retention: { blocks: retained, states: retained, proofs: retained } }),
    createTrie: createStateTrie,
    openIndex: (...options) => probe.timed(openLmdbKv(...options)),
    failPoint: (step) => probe.step(step),
    defer(work) {
      pending++;
      setImmediate(() => {
        pending--;
        probe.background(work);
      });
    },
  });
  const idle = async () => {
    while (pending > 0) await new Promise((resolve) => setImmediate(resolve));
  };
  const trie = createStateTrie(store.trieNodes, { cacheBytes: divideCacheSize(CACHE_BYTES).trieNodes });
  const head = store.head();
  const chain = createTransferChain(accounts, trie, head === undefined ? undefined : store.header(head));
  if (head === undefined) store.appendGenesis(chain.genesisState());
  await idle();
  for (let block = -WARM_UP; block < blocks; block++) {
    if (block === 0) probe.reset();
    const count = transfers(block);
    const { record, nodes } = chain.transfers(count);
    probe.append(count, () => store.append(record, nodes));
    if (isBackToBack) await new Promise((resolve) => setImmediate(resolve));
    else await idle();
  }
  await idle();
  // What the collector did is said a turn later.
  await new Promise((resolve) => setTimeout(resolve, 50));
  store.close();
  return probe.rows().map((row) => ({ accounts, series: name, ...row }));
}

/** Milliseconds of an append and its parts. */
type Append = {
  readonly totalMs: number;
  /** Encoding the record, writing and syncing it. */
  readonly logMs: number;
  readonly rowsMs: number;
  /** Of the transactions of the key-value store, without the work in them. */
  readonly commitMs: number;
  /** Remembering what merges will write, and what of them is late. */
  readonly memoryMs: number;
};

/** A piece of work between blocks: milliseconds of its thread's clock, then of the process. */
type Pause = {
  /** The last step that began. */
  readonly of: string;
  readonly ms: number;
  readonly commitMs: number;
  readonly begin: number;
  readonly end: number;
};

const NO_PAUSE: Pause = { of: "", ms: 0, commitMs: 0, begin: 0, end: 0 };

/** Where the time of a store goes: its steps, and the transactions of its key-value store. */
class StoreProbe {
  readonly #clock = new ThreadClock();
  readonly #steps = new Map<string, number>();
  readonly #appends = new Map<number, Append[]>();
  /** Milliseconds of commits since `reset`, without the work of their transactions. */
  #commitMs = 0;
  #backgroundMs = 0;
  #lastBegun = "";
  #pauses: Pause[] = [];
  #collections: PerformanceEntry[] = [];

  constructor() {
    new PerformanceObserver((list) => this.#collections.push(...list.getEntries())).observe({ entryTypes: ["gc"] });
  }

  reset(): void {
    this.#appends.clear();
    this.#backgroundMs = 0;
    this.#pauses = [];
    this.#collections = [];
  }

  step(name: string): void {
    if (name.endsWith(":begin")) this.#lastBegun = name.slice(0, -":begin".length);
    this.#steps.set(name, this.#clock.now());
  }

  /** `kv`, whose commits are timed. */
  timed(kv: Kv): Kv {
    const timed: Kv = {
      get: (key) => kv.get(key),
      view: (key) => kv.view(key),
      range: (range) => kv.range(range),
      transaction: (work) => {
        const start = this.#clock.now();
        let workMs = 0;
        const result = kv.transaction((writer) => {
          const begin = this.#clock.now();
          const value = work(writer);
          workMs = this.#clock.now() - begin;
          return value;
        });
        this.#commitMs += this.#clock.now() - start - workMs;
        return result;
      },
      load: (fill) => kv.load!(fill),
      sync: () => kv.sync(),
      close: () => kv.close(),
    };
    return timed;
  }

  append(transfers: number, append: () => void): void {
    const start = this.#clock.now();
    const commitsBefore = this.#commitMs;
    append();
    const end = this.#clock.now();
    const at = (name: string) => this.#steps.get(`append:${name}`)!;
    const known = this.#appends.get(transfers) ?? [];
    this.#appends.set(transfers, known);
    known.push({
      totalMs: end - start,
      logMs: at("index") - start,
      rowsMs: at("commit") - at("index"),
      commitMs: this.#commitMs - commitsBefore,
      memoryMs: end - at("committed"),
    });
  }

  background(work: () => void): void {
    const begin = performance.now();
    const start = this.#clock.now();
    const commitsBefore = this.#commitMs;
    work();
    const ms = this.#clock.now() - start;
    this.#backgroundMs += ms;
    this.#pauses.push({
      of: this.#lastBegun,
      ms,
      commitMs: this.#commitMs - commitsBefore,
      begin,
      end: performance.now(),
    });
  }

  rows() {
    const longest = this.#pauses.reduce((a, b) => (b.ms > a.ms ? b : a), NO_PAUSE);
    const blocks = Array.from(this.#appends.values()).reduce((sum, appends) => sum + appends.length, 0);
    return Array.from(this.#appends, ([transfers, appends]) => {
      const total = sorted(appends, ({ totalMs }) => totalMs);
      const part = (of: (append: Append) => number) => at(sorted(appends, of), 0.5);
      return {
        transfers,
        blocks: appends.length,
        "p50 ms": at(total, 0.5),
        "p99 ms": at(total, 0.99),
        "max ms": at(total, 1),
        "p99 / p50": at(total, 0.99) / at(total, 0.5),
        "log p50": part(({ logMs }) => logMs),
        "rows p50": part(({ rowsMs }) => rowsMs),
        "commit p50": part(({ commitMs }) => commitMs),
        "commit max": at(
          sorted(appends, ({ commitMs }) => commitMs),
          1,
        ),
        "memory p50": part(({ memoryMs }) => memoryMs),
        "between ms a block": this.#backgroundMs / blocks,
        "pause p99": at(
          sorted(this.#pauses, ({ ms }) => ms),
          0.99,
        ),
        "longest pause without collections": this.#pauses.reduce(
          (most, pause) => Math.max(most, pause.ms - this.#collectionsMs(pause)),
          0,
        ),
        "longest pause": longest.ms,
        "its work": longest.of,
        "its commit": longest.commitMs,
        "its collections": this.#collectionsMs(longest),
      };
    });
  }

  /** Milliseconds of garbage collection in a pause. */
  #collectionsMs({ begin, end }: Pause): number {
    const inside = this.#collections.filter(({ startTime }) => startTime >= begin && startTime <= end);
    return inside.reduce((sum, { duration }) => sum + duration, 0);
  }
}

function sorted<T>(values: readonly T[], of: (value: T) => number): readonly number[] {
  return values.map(of).sort((a, b) => a - b);
}

/** @param part 0 to 1 */
function at(ascending: readonly number[], part: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))] ?? 0;
}

/** The clock of this thread, standing still while it is ready to run and has no processor: other programs run beside a benchmark. */
class ThreadClock {
  readonly #file = openSchedstat();
  readonly #text = Buffer.alloc(64);

  /** Milliseconds. */
  now(): number {
    let waited = this.#waitedMs();
    for (;;) {
      const now = performance.now();
      const before = waited;
      waited = this.#waitedMs();
      // Both are of one moment where it did not wait in between.
      if (waited === before) return now - waited;
    }
  }

  #waitedMs(): number {
    if (this.#file === undefined) return 0;
    const length = readSync(this.#file, this.#text, 0, this.#text.length, 0);
    return Number(this.#text.toString("latin1", 0, length).split(" ")[1]) / 1e6;
  }
}

/** Undefined where the system does not say how long a thread has waited. */
function openSchedstat(): number | undefined {
  const path = `/proc/self/task/${process.pid}/schedstat`;
  return existsSync(path) ? openSync(path, "r") : undefined;
}
