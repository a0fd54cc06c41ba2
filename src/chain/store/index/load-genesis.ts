import type { Kv, KvLoad, SortedRows } from "../../../store/storage/kv.ts";
import { byKey } from "../../../store/storage/row-order.ts";
import type { StateEntries } from "../../records/state-entries.ts";
import { buildStateTrie, stateKeys } from "../nodes/build-state-trie.ts";
import { type RecordPlace, writeCodes, writeEarlyVersions, writeStateRows, writeTrieRows } from "./genesis-rows.ts";

const ADDRESS_LENGTH = 20;

export type GenesisTables = {
  readonly kv: Kv;
  /** Called after each part of the rows. */
  readonly onCommit: () => void;
};

/** Where the record is, which has this root. */
type PlaceOf = (root: Uint8Array) => RecordPlace;

/**
 * Writes all rows of the state that block 0 makes, each table in the order of its keys. What blocks and merges would write of it, without
 * holding nodes and versions in memory: for a million accounts those are more than a gigabyte.
 */
export function loadGenesisState(entries: StateEntries, { kv, onCommit }: GenesisTables, placeOf: PlaceOf): void {
  if (kv.load !== undefined) {
    kv.load((rows) => writeRows(rows, entries, onCommit, placeOf));
    return;
  }
  const batches = new RowBatches(kv, onCommit);
  writeRows(batches, entries, onCommit, placeOf);
  batches.commit();
}

function writeRows(rows: KvLoad, entries: StateEntries, onCommit: () => void, placeOf: PlaceOf): void {
  const { order, ...keys } = stateKeys(entries);
  const { built, early } = writeTrieRows(rows, entries, keys, (sinkOf, onAccount) =>
    buildStateTrie({ entries, keys, order, sinkOf, onAccount }),
  );
  writeEarlyVersions(rows.run(), early);
  onCommit();
  const place = placeOf(built);
  writeStateRows(rows, entries, keys, byAddress(entries), place);
  onCommit();
  writeCodes(rows.run(), entries);
}

/** The numbers of the accounts in the order of their addresses. */
function byAddress(entries: StateEntries): Uint32Array {
  const addresses = new Uint8Array(entries.accountCount * ADDRESS_LENGTH);
  for (let i = 0; i < entries.accountCount; i++) entries.copyAddress(i, addresses, i * ADDRESS_LENGTH);
  return byKey(addresses, ADDRESS_LENGTH, 0, entries.accountCount);
}

/** Rows of one transaction: some 10 ms. A longer one, of a code, has its own. */
const BATCH_BYTES = 1 << 20;

/** Writes rows in transactions for a store without a bulk load. Rows wait in one buffer: as objects they would burden the garbage collector. */
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
