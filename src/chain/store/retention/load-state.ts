import { bytesToBigint, concatBytes, EMPTY_BYTES, equalBytes } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../../base/primitives/hash.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import { type ByteReader, varintLength, writeVarint } from "../../../store/storage/byte-io.ts";
import { ExternalSort, removeSortFiles } from "../../../store/storage/external-sort.ts";
import type { Kv, KvLoad, SortedRows } from "../../../store/storage/kv.ts";
import type { LogDirectory } from "../../../store/storage/log/log-file.ts";
import { TABLE, tableKey } from "../../../store/storage/schema.ts";
import { decodeAccount, readChangeRows } from "../../records/changes-record.ts";
import { StateRootMismatchError } from "../../store-errors.ts";
import { GenesisNodes } from "../index/genesis-rows.ts";
import { RowBatches } from "../index/load-genesis.ts";
import { VERSION_KEY_LENGTH_MAX } from "../nodes/node-history.ts";
import { OrderedState } from "../nodes/ordered-state.ts";
import { HASH_PART } from "../state/hashed-keys.ts";

const ADDRESS_LENGTH = 20;
const SLOT_LENGTH = 32;

/** A state that is read once, in the order of its tries. */
export type StateSource = {
  /** Of the block that makes the state. */
  readonly number: number;
  readonly root: Hash;
  /** Changes that lead to it from nothing (changes-record.ts). */
  readonly parts: Iterable<ByteReader>;
};

type LoadModules = {
  readonly kv: Kv;
  /** For the rows that are sorted. */
  readonly directory: LogDirectory;
};

/**
 * Writes the rows of the oldest state of an index, but for those of its block. Memory holds some megabytes of it at a time: rows that are not in the order
 * of the tries are sorted on disk.
 * @throws StateRootMismatchError, InvalidStateError
 */
export function loadState(source: StateSource, { kv, directory }: LoadModules): void {
  removeSortFiles(directory);
  const isEmpty = Array.from(kv.range({ limit: 1 })).length === 0;
  if (kv.load !== undefined && isEmpty) {
    kv.load((rows) => writeRows(rows, source, directory));
    return;
  }
  const batches = new RowBatches(kv, () => {});
  writeRows(batches, source, directory);
  batches.commit();
}

function writeRows(rows: KvLoad, { number, root, parts }: StateSource, directory: LogDirectory): void {
  const sorts = {
    accounts: new ExternalSort(directory, "accounts", ADDRESS_LENGTH),
    slots: new ExternalSort(directory, "slots", ADDRESS_LENGTH + SLOT_LENGTH),
    hashedSlots: new ExternalSort(directory, "hashed-slots", ADDRESS_LENGTH + HASH_PART + SLOT_LENGTH),
    codes: new ExternalSort(directory, "codes", SLOT_LENGTH),
    versions: new ExternalSort(directory, "versions", VERSION_KEY_LENGTH_MAX),
  };
  try {
    const nodes = new GenesisNodes(rows, number, (key, value) => addVersion(sorts.versions, key, value));
    const state = new OrderedState((owner = EMPTY_BYTES) => nodes.sinkOf(owner));
    const hashedAddresses = new HashedAddressRows(rows.run());
    let last: Uint8Array = EMPTY_BYTES;
    for (const part of parts) {
      const { accounts, slots, codes } = readChangeRows(part);
      for (const { hash, code } of codes) sorts.codes.add(hash, code);
      let slot = 0;
      for (const { key: address, value } of accounts) {
        // An account with many slots comes more than once.
        if (!equalBytes(address, last)) {
          const hash = keccak256(address);
          state.addAccount(hash, decodeAccount(value ?? EMPTY_BYTES));
          hashedAddresses.add(hash, address);
          sorts.accounts.add(address, value ?? EMPTY_BYTES);
          last = address;
        }
        for (; slot < slots.length && beginsWith(slots[slot]!.key, address); slot++) {
          const { key, value: slotValue = EMPTY_BYTES } = slots[slot]!;
          const hash = keccak256(key.subarray(ADDRESS_LENGTH));
          state.addSlot(hash, bytesToBigint(slotValue));
          sorts.slots.add(key, slotValue);
          sorts.hashedSlots.add(
            concatBytes(address, hash.subarray(0, HASH_PART), key.subarray(ADDRESS_LENGTH)),
            EMPTY_BYTES,
          );
        }
      }
      last = Uint8Array.from(last);
    }
    const computed = state.finish();
    if (!equalBytes(computed, hashToBytes(root))) {
      throw new StateRootMismatchError({ number, computed: hashFromBytes(computed), stored: root });
    }
    hashedAddresses.finish();
    writeVersions(rows.run(), sorts.versions);
    writeOldestValues(rows, sorts.accounts, number, TABLE.account, TABLE.accountHistory);
    writeOldestValues(rows, sorts.slots, number, TABLE.slot, TABLE.slotHistory);
    writeSorted(rows.run(), sorts.hashedSlots, TABLE.hashedSlot);
    writeSorted(rows.run(), sorts.codes, TABLE.code);
  } finally {
    for (const sort of Object.values(sorts)) sort.close();
  }
}

/** Pads the key, whose end decides about the order before the padding does; its length goes before the value. */
function addVersion(sort: ExternalSort, key: Uint8Array, value: Uint8Array): void {
  const padded = new Uint8Array(VERSION_KEY_LENGTH_MAX);
  padded.set(key);
  const row = new Uint8Array(1 + value.length);
  row[0] = key.length;
  row.set(value, 1);
  sort.add(padded, row);
}

function writeVersions(rows: SortedRows, sorted: ExternalSort): void {
  sorted.forEach((key, row) => {
    rows.put(key.subarray(0, row[0]), row.subarray(1));
  });
}

function beginsWith(key: Uint8Array, address: Uint8Array): boolean {
  for (let i = 0; i < ADDRESS_LENGTH; i++) if (key[i] !== address[i]) return false;
  return true;
}

/** Writes the rows that a VersionedTable has of keys whose values are the oldest (`writeOldest`). */
function writeOldestValues(rows: KvLoad, sorted: ExternalSort, number: number, latest: number, history: number): void {
  const [latestRows, historyRows] = [rows.run(), rows.run()];
  const prefix = varintLength(number);
  sorted.forEach((key, value) => {
    const row = new Uint8Array(prefix + value.length);
    writeVarint(number, row, 0);
    row.set(value, prefix);
    latestRows.put(tableKey(latest, key), row);
    historyRows.put(tableKey(history, key), EMPTY_BYTES);
  });
}

function writeSorted(rows: SortedRows, sorted: ExternalSort, table: number): void {
  sorted.forEach((key, value) => {
    rows.put(tableKey(table, key), value);
  });
}

/** Writes the rows that map hashed addresses to addresses. The first bytes of the hash order the rows. */
class HashedAddressRows {
  readonly #rows: SortedRows;
  /** Rows that begin with the same part of a hash: nearly always one. */
  #equal: Uint8Array[] = [];

  constructor(rows: SortedRows) {
    this.#rows = rows;
  }

  add(hash: Uint8Array, address: Uint8Array): void {
    const key = tableKey(TABLE.hashedAddress, hash.subarray(0, HASH_PART), address);
    if (
      this.#equal.length > 0 &&
      Buffer.compare(this.#equal[0]!.subarray(0, 1 + HASH_PART), key.subarray(0, 1 + HASH_PART)) !== 0
    ) {
      this.finish();
    }
    this.#equal.push(key);
  }

  /** After the last address. */
  finish(): void {
    for (const key of this.#equal.sort(Buffer.compare)) this.#rows.put(key, EMPTY_BYTES);
    this.#equal = [];
  }
}
