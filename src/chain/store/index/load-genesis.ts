import { keccak256, keccak256Message, keccakMessage } from "../../../primitives/keccak.ts";
import { allocateShared } from "../../../primitives/slab.ts";
import type { Kv, KvLoad, SortedRows } from "../../../storage/kv.ts";
import { LogReader } from "../../../storage/log-reader.ts";
import { byKey } from "../../../storage/row-order.ts";
import { TABLE, tableKey } from "../../../storage/schema.ts";
import type { VersionedTable } from "../../../storage/versioned-table.ts";
import { HASH_LENGTH } from "../../../trie/node.ts";
import type { NodeSink } from "../../../trie/subtrie.ts";
import { TRIE_KEY_LENGTH } from "../../../trie/trie-builder.ts";
import type { StateEntries } from "../../records/state-entries.ts";
import { buildStateTrie, type StateKeys, stateKeys } from "../nodes/build-state-trie.ts";
import { HISTORY_DEPTH, wholeVersionRow } from "../nodes/node-history.ts";
import { firstNodeRow } from "../nodes/trie-node-table.ts";
import { HASH_PART, writeHashedAddress, writeHashedSlot } from "../state/hashed-keys.ts";

const ADDRESS_LENGTH = 20;
const SLOT_LENGTH = 32;

export type GenesisTables = {
  readonly kv: Kv;
  readonly accounts: VersionedTable;
  readonly slots: VersionedTable;
  /** Called after each table. */
  readonly onCommit: () => void;
};

/**
 * Writes all rows of the state that block 0 makes, each table in the order of its keys. What blocks and merges would write of it, without
 * holding nodes and versions in memory: for a million accounts those are more than a gigabyte.
 * @param positionOf the position of the record in the log whose state has this root, and where in it the bytes of the entries begin
 */
export function loadGenesisState(
  entries: StateEntries,
  tables: GenesisTables,
  positionOf: (root: Uint8Array) => { readonly position: number; readonly offset: number },
): void {
  const fill = (rows: KvLoad) => writeRows(rows, entries, tables, positionOf);
  if (tables.kv.load !== undefined) {
    tables.kv.load(fill);
    return;
  }
  const batches = new RowBatches(tables.kv, tables.onCommit);
  fill(batches);
  batches.commit();
}

function writeRows(
  rows: KvLoad,
  entries: StateEntries,
  { accounts, slots, onCommit }: GenesisTables,
  positionOf: Parameters<typeof loadGenesisState>[2],
): void {
  const keys = stateKeys(entries);
  const nodes = new GenesisNodes(rows);
  const root = buildStateTrie(entries, keys, (owner) => nodes.sinkOf(owner));
  nodes.finish();
  onCommit();
  const { position, offset } = positionOf(root);
  const at = (entry: number) => LogReader.payloadPosition(position, offset + entry);

  const order = addressOrder(entries);
  const latest = rows.run();
  for (const i of order) accounts.putLatest(latest, 0, entries.address(i), entries.account(i));
  forEachSlot(entries, order, (key, slot) => slots.putLatest(latest, 0, key, entries.slotValue(slot)));
  onCommit();
  // Before the rows of history: that a key has one means to a later merge that it has its hashed key too.
  writeHashedKeys(rows.run(), entries, keys, order);
  onCommit();
  const history = rows.run();
  for (const i of order) {
    accounts.putFirstVersion(history, 0, entries.address(i), at(entries.accountOffset(i)));
  }
  forEachSlot(entries, order, (key, slot) => slots.putFirstVersion(history, 0, key, at(entries.slotOffset(slot))));
  onCommit();
  writeCodes(rows.run(), entries);
}

function writeCodes(rows: SortedRows, { codes }: StateEntries): void {
  const sorted = [...codes].sort((a, b) => Buffer.compare(a.hash, b.hash));
  for (const { hash, code } of sorted) rows.put(tableKey(TABLE.code, hash), code);
}

/** Numbers of the accounts in the order of their addresses. */
function addressOrder(entries: StateEntries): Uint32Array {
  const { accountCount } = entries;
  const addresses = new Uint8Array(accountCount * ADDRESS_LENGTH);
  for (let i = 0; i < accountCount; i++) addresses.set(entries.address(i), i * ADDRESS_LENGTH);
  return byKey(addresses, ADDRESS_LENGTH, 0, accountCount);
}

function writeHashedKeys(
  rows: SortedRows,
  entries: StateEntries,
  { addresses, slots }: StateKeys,
  byAddress: Iterable<number>,
): void {
  const hashAt = (hashes: Uint8Array, index: number) =>
    hashes.subarray(index * TRIE_KEY_LENGTH, (index + 1) * TRIE_KEY_LENGTH);
  const { accountCount } = entries;
  for (const i of hashedOrder(addresses, 0, accountCount, ADDRESS_LENGTH, (i) => entries.address(i))) {
    writeHashedAddress(rows, entries.address(i), hashAt(addresses, i));
  }
  const slot = new Uint8Array(SLOT_LENGTH);
  for (const index of byAddress) {
    const [first, end] = [entries.firstSlot(index), entries.firstSlot(index + 1)];
    const order = hashedOrder(slots, first, end, SLOT_LENGTH, (each) => {
      entries.writeSlot(each, slot, 0);
      return slot;
    });
    for (const each of order) {
      writeHashedSlot(rows, slotKey(entries, index, each), hashAt(slots, each));
    }
  }
}

/** The numbers from `first` to `end` in the order of the part of their hashes that is in a row, then of what was hashed. */
function hashedOrder(
  hashes: Uint8Array,
  first: number,
  end: number,
  length: number,
  keyOf: (index: number) => Uint8Array,
): Uint32Array {
  const rowLength = HASH_PART + length;
  const rows = new Uint8Array((end - first) * rowLength);
  for (let i = first, at = 0; i < end; i++, at += rowLength) {
    const hash = i * TRIE_KEY_LENGTH;
    for (let byte = 0; byte < HASH_PART; byte++) rows[at + byte] = hashes[hash + byte]!;
    rows.set(keyOf(i), at + HASH_PART);
  }
  return byKey(rows, rowLength, 0, end - first).map((i) => first + i);
}

/** Each slot with its key, address by address in the order of the slots. */
function forEachSlot(
  entries: StateEntries,
  byAddress: Iterable<number>,
  visit: (key: Uint8Array, slot: number) => void,
): void {
  for (const index of byAddress) {
    const [first, end] = [entries.firstSlot(index), entries.firstSlot(index + 1)];
    if (first === end) continue;
    const slots = new Uint8Array((end - first) * SLOT_LENGTH);
    for (let slot = first; slot < end; slot++) {
      entries.writeSlot(slot, slots, (slot - first) * SLOT_LENGTH);
    }
    for (const i of byKey(slots, SLOT_LENGTH, 0, end - first)) {
      visit(slotKey(entries, index, first + i), first + i);
    }
  }
}

/** address ‖ slot */
function slotKey(entries: StateEntries, index: number, slot: number): Uint8Array {
  const key = allocateShared(ADDRESS_LENGTH + SLOT_LENGTH);
  key.set(entries.address(index));
  entries.writeSlot(slot, key, ADDRESS_LENGTH);
  return key;
}

/** A path ends in this byte, and a shorter key may not be below a longer one (node-history.ts). */
const PATH_END = 0x10;

/**
 * The rows of the nodes of a state, which come in post-order: those of the account trie, those of the storage tries, and the versions of
 * the nodes near the roots.
 */
export class GenesisNodes {
  readonly #accountNodes: SortedRows;
  readonly #storageNodes: SortedRows;
  readonly #versions: SortedRows;
  readonly #firstVersions: SortedRows;
  /** Versions of the account trie are among those of the first storage tries, and come when all of those are there. */
  readonly #early: { readonly key: Uint8Array; readonly value: Uint8Array }[] = [];

  constructor(rows: KvLoad) {
    this.#accountNodes = rows.run();
    this.#storageNodes = rows.run();
    this.#firstVersions = rows.run();
    this.#versions = rows.run();
  }

  /** Receives the nodes of the trie of `owner`, as in TrieNodeReader. */
  sinkOf(owner: Uint8Array): Pick<NodeSink, "add"> {
    const nodes = owner.length === 0 ? this.#accountNodes : this.#storageNodes;
    const isEarly = owner.length === 0 || owner[0]! <= PATH_END;
    return {
      add: (path, depth, rlp, length) => {
        const hash = allocateShared(HASH_LENGTH);
        const bytes = length === rlp.length ? rlp : rlp.subarray(0, length);
        if (rlp === keccakMessage) keccak256Message(length, hash, 0);
        else hash.set(keccak256(bytes));
        const place = path.subarray(0, depth);
        const { key, value } = firstNodeRow(owner, place, hash, bytes);
        nodes.put(key, value);
        if (depth <= HISTORY_DEPTH) {
          const version = wholeVersionRow(owner, place, 0, bytes);
          if (isEarly) this.#early.push(version);
          else this.#versions.put(version.key, version.value);
        }
        return hash;
      },
    };
  }

  /** After the last node. */
  finish(): void {
    this.#early.sort((a, b) => Buffer.compare(a.key, b.key));
    for (const { key, value } of this.#early) this.#firstVersions.put(key, value);
  }
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
