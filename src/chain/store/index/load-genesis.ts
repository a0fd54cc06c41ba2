import { EMPTY_BYTES } from "../../../primitives/bytes.ts";
import type { Kv, KvLoad, SharedKvLoad, SortedRows } from "../../../storage/kv.ts";
import { rootAbove } from "../../../trie/trie-builder.ts";
import type { StateEntries } from "../../records/state-entries.ts";
import { buildStateTrie, stateKeys } from "../nodes/build-state-trie.ts";
import {
  GenesisNodes,
  type RecordPlace,
  writeCodes,
  writeEarlyVersions,
  writeStateRows,
  writeTrieRows,
} from "./genesis-rows.ts";
import { type GenesisThread, startGenesisThread } from "./genesis-thread.ts";
import { GenesisWork, genesisJob, SILENCE_MS_MAX, STAGE, sortByAddress, WORD } from "./genesis-work.ts";

/** So many accounts and slots take longer than a thread to start. */
const THREAD_KEYS_MIN = 20_000;

export type GenesisTables = {
  readonly kv: Kv;
  /** Called after each part of the rows. */
  readonly onCommit: () => void;
  /** With so many accounts and slots another thread takes a share of the work; THREAD_KEYS_MIN if not given. */
  readonly threadKeysMin?: number;
  /** For tests: this thread does nothing of any kind before the other one has begun with it. */
  readonly awaitsThread?: boolean;
};

/** Where the record is, which has this root. */
type PlaceOf = (root: Uint8Array) => RecordPlace;

/**
 * Writes all rows of the state that block 0 makes, each table in the order of its keys. What blocks and merges would write of it, without
 * holding nodes and versions in memory: for a million accounts those are more than a gigabyte.
 */
export function loadGenesisState(entries: StateEntries, tables: GenesisTables, placeOf: PlaceOf): void {
  const { kv, onCommit, threadKeysMin = THREAD_KEYS_MIN } = tables;
  if (kv.load === undefined) {
    const batches = new RowBatches(kv, onCommit);
    writeAlone(batches, entries, onCommit, placeOf);
    batches.commit();
    return;
  }
  if (entries.accountCount + entries.slotCount < threadKeysMin) {
    kv.load((rows) => writeAlone(rows, entries, onCommit, placeOf));
    return;
  }
  const thread = startGenesisThread();
  kv.load((rows) => {
    try {
      const { shared } = rows;
      const isWritten = thread && shared && writeTogether(thread, rows, shared, entries, tables, placeOf);
      if (!isWritten) writeAlone(rows, entries, onCommit, placeOf);
    } finally {
      thread?.end();
    }
  });
}

function writeAlone(rows: KvLoad, entries: StateEntries, onCommit: () => void, placeOf: PlaceOf): void {
  const { order, ...keys } = stateKeys(entries);
  const { built, early } = writeTrieRows(rows, entries, keys, (sinkOf, onAccount) =>
    buildStateTrie({ entries, keys, order, sinkOf, onAccount }),
  );
  writeEarlyVersions(rows.run(), early);
  onCommit();
  const place = placeOf(built);
  const byAddress = new Uint32Array(entries.accountCount).map((_, i) => i);
  sortByAddress(entries, byAddress);
  writeStateRows(rows, entries, keys, byAddress, place);
  onCommit();
  writeCodes(rows.run(), entries);
}

/** The same, with a share of it written by another thread; false where it cannot be divided, and nothing is written. */
function writeTogether(
  thread: GenesisThread,
  rows: KvLoad,
  shared: SharedKvLoad,
  entries: StateEntries,
  { onCommit, awaitsThread = false }: GenesisTables,
  placeOf: PlaceOf,
): boolean {
  const job = genesisJob(entries, shared.place);
  thread.begin(job);
  const work = new GenesisWork(job, rows, entries, SILENCE_MS_MAX);
  if (awaitsThread) work.wait(WORD.keys, 1);
  work.hashKeys();
  if (!work.divide()) return false;
  work.enter(STAGE.tries);
  if (awaitsThread) work.wait(WORD.tries, 1);
  work.buildTries();
  const above = new GenesisNodes(rows);
  const root = rootAbove(work.references(), above.sinkOf(EMPTY_BYTES));
  onCommit();
  const { position, offset } = placeOf(root);
  job.place.set([position, offset]);
  work.enter(STAGE.rows);
  if (awaitsThread) work.wait(WORD.rows, 1);
  work.sortAddresses();
  work.writeRows();
  onCommit();
  writeCodes(rows.run(), entries);
  const share = thread.share(job);
  if (share !== undefined) shared.addRuns(share.runs);
  writeEarlyVersions(rows.run(), [...above.early, ...work.early, ...(share?.early ?? [])]);
  return true;
}

/** Rows of one transaction: some 10 ms. A longer one, of a code, has its own. */
const BATCH_BYTES = 1 << 20;

/** Writes rows in transactions, where a store has no way of its own to load them. They wait in one buffer: as objects they would burden the garbage collector. */
export class RowBatches implements KvLoad, SortedRows {
  readonly #kv: Kv;
  readonly #onCommit: () => void;
  readonly #bytes = new Uint8Array(BATCH_BYTES);
  /** Where each key and each value ends, in turn. */
  readonly #ends: number[] = [];
  #used = 0;

  /** @param onCommit called after each transaction */
  constructor(kv: Kv, onCommit: () => void) {
    this.#kv = kv;
    this.#onCommit = onCommit;
  }

  run(): SortedRows {
    return this;
  }

  put(key: Uint8Array, value: Uint8Array): void {
    const length = key.length + value.length;
    if (this.#used + length > BATCH_BYTES) this.commit();
    if (length > BATCH_BYTES) {
      this.#kv.transaction((writer) => writer.put(key, value));
      return;
    }
    const valueStart = this.#used + key.length;
    this.#bytes.set(key, this.#used);
    this.#bytes.set(value, valueStart);
    this.#used = valueStart + value.length;
    this.#ends.push(valueStart, this.#used);
  }

  commit(): void {
    const [bytes, ends] = [this.#bytes, this.#ends];
    this.#kv.transaction((writer) => {
      let start = 0;
      for (let i = 0; i < ends.length; i += 2) {
        const [keyEnd, end] = [ends[i]!, ends[i + 1]!];
        writer.put(bytes.subarray(start, keyEnd), bytes.subarray(keyEnd, end));
        start = end;
      }
    });
    this.#ends.length = 0;
    this.#used = 0;
    this.#onCommit();
  }
}
