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
  const hashedAddresses = new HashedAddresses(rows.run(), entries, keys.addresses);
  const root = buildStateTrie(
    entries,
    keys,
    (owner) => nodes.sinkOf(owner),
    (index) => hashedAddresses.add(index),
  );
  nodes.finish();
  hashedAddresses.finish();
  onCommit();
  const { position, offset } = positionOf(root);
  const at = (entry: number) => LogReader.payloadPosition(position, offset + entry);

  const order = addressOrder(entries);
  // Before the rows of history: that a key has one means to a later merge that it has its hashed key too.
  writeHashedSlots(rows.run(), entries, keys, order);
  onCommit();
  // Both rows of an account in one pass: accounts are in another order in the record, and each is a miss of the processor's cache.
  const latest = rows.run();
  const history = rows.run();
  for (const i of order) {
    const address = entries.address(i);
    accounts.putLatest(latest, 0, address, entries.account(i));
    accounts.putFirstVersion(history, 0, address, at(entries.accountOffset(i)));
  }
  onCommit();
  forEachSlot(entries, order, (key, slot) => {
    slots.putLatest(latest, 0, key, entries.slotValue(slot));
    slots.putFirstVersion(history, 0, key, at(entries.slotOffset(slot)));
  });
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

/** Writes the rows of addresses by their hashes. */
export class HashedAddresses {
  readonly #rows: SortedRows;
  readonly #entries: StateEntries;
  readonly #hashes: Uint8Array;
  /** Accounts whose hashes have the same part in their rows, nearly always one: their rows are in the order of the addresses. */
  #equal: number[] = [];

  constructor(rows: SortedRows, entries: StateEntries, hashes: Uint8Array) {
    this.#rows = rows;
    this.#entries = entries;
    this.#hashes = hashes;
  }

  /** Adds account number `index`, whose hash is above the last one. */
  add(index: number): void {
    if (this.#equal.length > 0 && !hasSamePart(this.#hashes, this.#equal[0]!, index)) this.finish();
    this.#equal.push(index);
  }

  /** After the last account. */
  finish(): void {
    const entries = this.#entries;
    if (this.#equal.length > 1) {
      this.#equal.sort((a, b) => Buffer.compare(entries.address(a), entries.address(b)));
    }
    for (const i of this.#equal) writeHashedAddress(this.#rows, entries.address(i), hashAt(this.#hashes, i));
    this.#equal.length = 0;
  }
}

/** Writes the rows of slots by their hashes, of one address after the other. */
export function writeHashedSlots(
  rows: SortedRows,
  entries: StateEntries,
  { slots, slotOrder }: Pick<StateKeys, "slots" | "slotOrder">,
  byAddress: Iterable<number>,
): void {
  if (entries.slotCount === 0) return;
  for (const index of byAddress) {
    if (entries.firstSlot(index) === entries.firstSlot(index + 1)) continue;
    const order = Array.from(slotOrder(index), (slot) => ({ slot, key: slotKey(entries, index, slot) }));
    for (let start = 0, end = 1; start < order.length; start = end++) {
      while (end < order.length && hasSamePart(slots, order[start]!.slot, order[end]!.slot)) end++;
      const equal = order.slice(start, end).sort((a, b) => Buffer.compare(a.key, b.key));
      for (const { slot, key } of equal) writeHashedSlot(rows, key, hashAt(slots, slot));
    }
  }
}

function hashAt(hashes: Uint8Array, index: number): Uint8Array {
  return hashes.subarray(index * TRIE_KEY_LENGTH, (index + 1) * TRIE_KEY_LENGTH);
}

function hasSamePart(hashes: Uint8Array, a: number, b: number): boolean {
  for (let i = 0; i < HASH_PART; i++) {
    if (hashes[a * TRIE_KEY_LENGTH + i] !== hashes[b * TRIE_KEY_LENGTH + i]) return false;
  }
  return true;
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
