import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { printTable, updateResult } from "../support/report.ts";
import { PEER_STORES, type PeerRow, type PeerStore } from "./peer-stores.ts";

const ACCOUNTS = 1_000_000;
const READS = 100_000;
const COMMITS = 1_000;
const BATCH = 20_000;

/** The tables of a state, in the order of their keys: bytes of a row as they are in our index. */
const TABLES = [
  { prefix: 1, keyLength: 21, valueLength: 20 },
  { prefix: 2, keyLength: 21, valueLength: 8 },
  { prefix: 3, keyLength: 12, valueLength: 200 },
] as const;
const TRANSACTION_TABLE = { prefix: 4, keyLength: 33, valueLength: 6 };

/**
 * `npm run bench -- stores --packages=DIRECTORY [--store=NAME] [--accounts=COUNT]`: the rows of a million accounts in each key-value store that could hold our index. DIRECTORY
 * is where somebody has installed those to be compared (`peer-stores.ts`); a store that is not there, or does not load, is left out.
 *
 * A read is of a row anywhere; a block commits the rows of 200 transactions; a slice of a merge rewrites 300 accounts: all three rows, sorted. Milliseconds
 * and microseconds of the clock.
 */
export async function run(args: readonly string[]): Promise<void> {
  const option = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const accounts = Number(option("accounts") ?? ACCOUNTS);
  const packages = resolve(option("packages") ?? ".");
  for (const [name, open] of Object.entries(PEER_STORES)) {
    if (option("store") !== undefined && option("store") !== name) continue;
    const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
    try {
      const row = { store: name, accounts, ...(await measure(directory, await open(directory, packages), accounts)) };
      printTable([row]);
      updateResult("stores", [row], ({ store }) => store);
    } catch (error) {
      console.log(`${name}: ${(error as Error).message.split("\n")[0]}`);
    } finally {
      rmSync(directory, { recursive: true });
    }
  }
}

async function measure(directory: string, store: PeerStore, accounts: number) {
  const start = performance.now();
  for (const table of TABLES) {
    const keys = Array.from({ length: accounts }, (_, i) => keyOf(table, i)).sort(Buffer.compare);
    for (let at = 0; at < keys.length; at += BATCH) {
      await store.commit(keys.slice(at, at + BATCH).map((key, i) => ({ key, value: bytesOf(table, at + i) })));
    }
  }
  const loadSeconds = (performance.now() - start) / 1000;
  // Not measured: V8 compiles, and the pages of the file come to memory.
  await timeReads(store, accounts);
  const reads = await timeReads(store, accounts);
  const blocks: number[] = [];
  const merges: number[] = [];
  const pauses: number[] = [];
  for (let number = 0; number < COMMITS; number++) {
    blocks.push(await timeCommit(store, blockRows(number), pauses));
    merges.push(await timeCommit(store, mergeRows(number, accounts), pauses));
  }
  const later = await timeReads(store, accounts);
  await store.close();
  return {
    "load s": loadSeconds,
    "disk MB": diskBytes(directory) / 1e6,
    "sync reads": store.get === undefined ? "no" : "yes",
    "read p50 µs": part(reads, 0.5) * 1000,
    "read p99 µs": part(reads, 0.99) * 1000,
    "after writes p50 µs": part(later, 0.5) * 1000,
    "after writes p99 µs": part(later, 0.99) * 1000,
    "block p50 ms": part(blocks, 0.5),
    "block p99 ms": part(blocks, 0.99),
    "block max ms": part(blocks, 1),
    "merge p50 ms": part(merges, 0.5),
    "merge p99 ms": part(merges, 0.99),
    "merge max ms": part(merges, 1),
    "thread held p50 ms": part(pauses, 0.5),
    "thread held max ms": part(pauses, 1),
  };
}

/** Milliseconds of each read. */
async function timeReads(store: PeerStore, accounts: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let i = 0; i < READS; i++) {
    const key = keyOf(TABLES[i % TABLES.length]!, randomAccount(accounts));
    const start = performance.now();
    const value = store.get === undefined ? await store.getLater!(key) : store.get(key);
    times.push(performance.now() - start);
    if (value === undefined) throw new Error(`row ${Buffer.from(key).toString("hex")} is missing`);
  }
  return times;
}

/** Milliseconds until `rows` are committed. @param pauses gets those for which the call itself held the thread */
async function timeCommit(store: PeerStore, rows: readonly PeerRow[], pauses: number[]): Promise<number> {
  const start = performance.now();
  const committed = store.commit(rows);
  pauses.push(performance.now() - start);
  await committed;
  return performance.now() - start;
}

function blockRows(number: number): readonly PeerRow[] {
  const rows = Array.from({ length: 200 }, (_, i) => ({
    key: keyOf(TRANSACTION_TABLE, number * 200 + i),
    value: bytesOf(TRANSACTION_TABLE, number),
  }));
  return rows.sort(byKey);
}

function mergeRows(number: number, accountCount: number): readonly PeerRow[] {
  const accounts = Array.from({ length: 300 }, () => randomAccount(accountCount));
  return TABLES.flatMap((table) =>
    accounts.map((account) => ({ key: keyOf(table, account), value: bytesOf(table, number) })).sort(byKey),
  );
}

function byKey(a: PeerRow, b: PeerRow): number {
  return Buffer.compare(a.key, b.key);
}

function randomAccount(accountCount: number): number {
  return Math.floor(Math.random() * accountCount);
}

type Table = { readonly prefix: number; readonly keyLength: number; readonly valueLength: number };

function keyOf({ prefix, keyLength }: Table, index: number): Buffer {
  const key = Buffer.alloc(keyLength);
  key.set(
    createHash("sha256")
      .update(`${index}`)
      .digest()
      .subarray(0, keyLength - 1),
    1,
  );
  key[0] = prefix;
  return key;
}

/** Bytes that do not compress. */
function bytesOf({ valueLength }: Table, index: number): Buffer {
  const value = Buffer.alloc(valueLength);
  for (let at = 0; at < valueLength; at += 32)
    value.set(
      createHash("sha256")
        .update(`${index}/${at}`)
        .digest()
        .subarray(0, valueLength - at),
      at,
    );
  return value;
}

function diskBytes(directory: string): number {
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
}

function part(times: readonly number[], share: number): number {
  const sorted = Array.from(times).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}
