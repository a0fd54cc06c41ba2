import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { keccak256, keccak256Message, keccakMessage } from "../../../base/primitives/keccak.ts";
import { Views } from "../../../base/primitives/views.ts";
import { varintLength, writeVarint } from "../../../store/storage/byte-io.ts";
import type { KvLoad, SortedRows } from "../../../store/storage/kv.ts";
import { LogReader } from "../../../store/storage/log/log-reader.ts";
import { byKey } from "../../../store/storage/row-order.ts";
import { TABLE, tableKey } from "../../../store/storage/schema.ts";
import { HASH_LENGTH } from "../../../store/trie/node.ts";
import type { NodeSink } from "../../../store/trie/subtrie.ts";
import { TRIE_KEY_LENGTH } from "../../../store/trie/trie-builder.ts";
import type { StateEntries } from "../../records/state-entries.ts";
import type { StateKeys } from "../nodes/build-state-trie.ts";
import { FirstVersionRow, HISTORY_DEPTH } from "../nodes/node-history.ts";
import { FirstNodeRow } from "../nodes/trie-node-table.ts";
import { HASH_PART } from "../state/hashed-keys.ts";

const ADDRESS_LENGTH = 20;
/** Of an account entry, after its checksum and the length of its value. */
const ADDRESS_OFFSET = 5;
const SLOT_LENGTH = 32;
/** Of the value of an account or a slot, with the number of its block. */
const VALUE_LENGTH_MAX = 128;

/** Where the record of block 0 is in the log, and where in it the bytes of the entries begin. */
export type RecordPlace = { readonly position: number; readonly offset: number };

export type Row = { readonly key: Uint8Array; readonly value: Uint8Array };

/**
 * Writes the rows of the nodes of a trie, and those of addresses by their hashes.
 * @param build of the trie, given what receives its nodes, and its accounts in the order of their keys
 * @returns versions of nodes for `writeEarlyVersions`
 */
export function writeTrieRows<Result>(
  rows: KvLoad,
  entries: StateEntries,
  { addresses }: Pick<StateKeys, "addresses">,
  build: (sinkOf: GenesisNodes["sinkOf"], onAccount: (index: number) => void) => Result,
): { readonly built: Result; readonly early: readonly Row[] } {
  const early: Row[] = [];
  const nodes = new GenesisNodes(rows, 0, (key, value) => early.push({ key: key.slice(), value: value.slice() }));
  const hashedAddresses = new HashedAddresses(rows.run(), entries, addresses);
  const built = build(
    (owner) => nodes.sinkOf(owner),
    (index) => hashedAddresses.add(index),
  );
  hashedAddresses.finish();
  return { built, early };
}

/** Writes the versions of nodes that are before those of all other storage tries. */
export function writeEarlyVersions(rows: SortedRows, early: readonly Row[]): void {
  for (const { key, value } of early.toSorted((a, b) => Buffer.compare(a.key, b.key))) rows.put(key, value);
}

/** Writes the rows of the accounts `order`, in the order of their addresses, and of their slots, but for the nodes. */
export function writeStateRows(
  rows: KvLoad,
  entries: StateEntries,
  keys: Pick<StateKeys, "slots" | "slotOrder">,
  order: Uint32Array,
  { position, offset }: RecordPlace,
): void {
  const at = (entry: number) => LogReader.payloadPosition(position, offset + entry);
  // Before the rows of history: that a key has one means to a later merge that it has its hashed key too.
  writeHashedSlots(rows.run(), entries, keys, order);
  // Both rows of an account in one pass: accounts are in another order in the record, and each is a miss of the processor's cache.
  const accounts = new FirstVersions(rows, entries, TABLE.account, TABLE.accountHistory, ADDRESS_LENGTH);
  for (const i of order) {
    const start = entries.accountOffset(i);
    accounts.put(entries.bytes, start + ADDRESS_OFFSET, entries.valueStart(i), entries.valueEnd(i), at(start));
  }
  const slots = new FirstVersions(rows, entries, TABLE.slot, TABLE.slotHistory, ADDRESS_LENGTH + SLOT_LENGTH);
  forEachSlot(entries, order, (key, slot) => {
    const [start, end] = [entries.slotValueStart(slot), entries.slotValueEnd(slot)];
    slots.put(key, 0, start, end, at(entries.slotOffset(slot)));
  });
}

/** The rows that a VersionedTable has of keys that block 0 gave their values. */
class FirstVersions {
  readonly #latest: SortedRows;
  readonly #history: SortedRows;
  readonly #latestKey: Uint8Array;
  readonly #historyKey: Uint8Array;
  readonly #bytes: Uint8Array;
  readonly #values = new Views(VALUE_LENGTH_MAX);

  constructor(rows: KvLoad, { bytes }: StateEntries, latestTable: number, historyTable: number, keyLength: number) {
    this.#latest = rows.run();
    this.#history = rows.run();
    this.#latestKey = tableKey(latestTable, new Uint8Array(keyLength));
    this.#historyKey = tableKey(historyTable, new Uint8Array(keyLength));
    this.#bytes = bytes;
  }

  /** @param start of the value in the bytes of the state @param end of it */
  put(keys: Uint8Array, keyStart: number, start: number, end: number, position: number): void {
    const [latestKey, historyKey] = [this.#latestKey, this.#historyKey];
    for (let i = 1; i < latestKey.length; i++) {
      const byte = keys[keyStart + i - 1]!;
      latestKey[i] = byte;
      historyKey[i] = byte;
    }
    // The number of the block comes first.
    const latest = this.#values.of(1 + end - start);
    latest[0] = 0;
    for (let i = start, to = 1; i < end; i++) latest[to++] = this.#bytes[i]!;
    this.#latest.put(latestKey, latest);
    const version = this.#values.of(1 + varintLength(position));
    version[0] = 0;
    writeVarint(position, version, 1);
    this.#history.put(historyKey, version);
  }
}

export function writeCodes(rows: SortedRows, { codes }: StateEntries): void {
  const sorted = [...codes].sort((a, b) => Buffer.compare(a.hash, b.hash));
  for (const { hash, code } of sorted) rows.put(tableKey(TABLE.code, hash), code);
}

/** Writes the rows of addresses by their hashes. */
export class HashedAddresses {
  readonly #rows: SortedRows;
  readonly #entries: StateEntries;
  readonly #hashes: Uint8Array;
  readonly #key = tableKey(TABLE.hashedAddress, new Uint8Array(HASH_PART + ADDRESS_LENGTH));
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

  #put(index: number): void {
    const key = this.#key;
    for (let i = 0; i < HASH_PART; i++) key[1 + i] = this.#hashes[index * TRIE_KEY_LENGTH + i]!;
    this.#entries.copyAddress(index, key, 1 + HASH_PART);
    this.#rows.put(key, EMPTY_BYTES);
  }

  /** After the last account. */
  finish(): void {
    const entries = this.#entries;
    if (this.#equal.length > 1) {
      this.#equal.sort((a, b) => Buffer.compare(entries.address(a), entries.address(b)));
    }
    for (const i of this.#equal) this.#put(i);
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
  const key = tableKey(TABLE.hashedSlot, new Uint8Array(ADDRESS_LENGTH + HASH_PART + SLOT_LENGTH));
  for (const index of byAddress) {
    if (entries.firstSlot(index) === entries.firstSlot(index + 1)) continue;
    entries.copyAddress(index, key, 1);
    const order = slotOrder(index);
    for (let start = 0, end = 1; start < order.length; start = end++) {
      while (end < order.length && hasSamePart(slots, order[start]!, order[end]!)) end++;
      const equal = end - start === 1 ? [order[start]!] : bySlot(entries, Array.from(order).slice(start, end));
      for (const slot of equal) {
        for (let i = 0; i < HASH_PART; i++) key[1 + ADDRESS_LENGTH + i] = slots[slot * TRIE_KEY_LENGTH + i]!;
        entries.writeSlot(slot, key, 1 + ADDRESS_LENGTH + HASH_PART);
        rows.put(key, EMPTY_BYTES);
      }
    }
  }
}

function bySlot(entries: StateEntries, slots: readonly number[]): readonly number[] {
  const keys = new Uint8Array(slots.length * SLOT_LENGTH);
  for (const [i, slot] of slots.entries()) entries.writeSlot(slot, keys, i * SLOT_LENGTH);
  return Array.from(byKey(keys, SLOT_LENGTH, 0, slots.length), (i) => slots[i]!);
}

function hasSamePart(hashes: Uint8Array, a: number, b: number): boolean {
  for (let i = 0; i < HASH_PART; i++) {
    if (hashes[a * TRIE_KEY_LENGTH + i] !== hashes[b * TRIE_KEY_LENGTH + i]) return false;
  }
  return true;
}

/** Each slot with its key, address ‖ slot, address by address in the order of the slots. The key is overwritten by the next one. */
function forEachSlot(
  entries: StateEntries,
  byAddress: Iterable<number>,
  visit: (key: Uint8Array, slot: number) => void,
): void {
  const key = new Uint8Array(ADDRESS_LENGTH + SLOT_LENGTH);
  for (const index of byAddress) {
    const [first, end] = [entries.firstSlot(index), entries.firstSlot(index + 1)];
    if (first === end) continue;
    const slots = new Uint8Array((end - first) * SLOT_LENGTH);
    for (let slot = first; slot < end; slot++) {
      entries.writeSlot(slot, slots, (slot - first) * SLOT_LENGTH);
    }
    entries.copyAddress(index, key, 0);
    for (const i of byKey(slots, SLOT_LENGTH, 0, end - first)) {
      entries.writeSlot(first + i, key, ADDRESS_LENGTH);
      visit(key, first + i);
    }
  }
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
  readonly #row = new FirstNodeRow();
  readonly #version: FirstVersionRow;
  /** Of the last node. */
  readonly #hash = new Uint8Array(HASH_LENGTH);
  readonly #onEarly: (key: Uint8Array, value: Uint8Array) => void;

  /**
   * @param number of the block that makes the state
   * @param onEarly gets the versions of the account trie, and of the storage tries whose versions are among them, in any order; both arrays are used again
   */
  constructor(rows: KvLoad, number: number, onEarly: (key: Uint8Array, value: Uint8Array) => void) {
    this.#onEarly = onEarly;
    this.#version = new FirstVersionRow(number);
    this.#accountNodes = rows.run();
    this.#storageNodes = rows.run();
    this.#versions = rows.run();
  }

  /** Receives the nodes of the trie of `owner`, as in TrieNodeReader. */
  sinkOf(owner: Uint8Array): Pick<NodeSink, "add"> {
    const nodes = owner.length === 0 ? this.#accountNodes : this.#storageNodes;
    const isEarly = owner.length === 0 || owner[0]! <= PATH_END;
    return {
      add: (path, depth, rlp, length) => {
        const hash = this.#hash;
        if (rlp === keccakMessage) keccak256Message(length, hash, 0);
        else hash.set(keccak256(length === rlp.length ? rlp : rlp.subarray(0, length)));
        nodes.put(this.#row.key(owner, path, depth), this.#row.value(hash, rlp, length));
        if (depth <= HISTORY_DEPTH) {
          const key = this.#version.key(owner, path, depth);
          const value = this.#version.value(rlp, length);
          if (isEarly) this.#onEarly(key, value);
          else this.#versions.put(key, value);
        }
        return hash;
      },
    };
  }
}
