import { keccak256, keccak256Message, keccakMessage } from "../../../primitives/keccak.ts";
import { allocateShared } from "../../../primitives/slab.ts";
import type { Kv, KvWriter } from "../../../storage/kv.ts";
import { LogReader } from "../../../storage/log-reader.ts";
import { byPrefix, keyPrefix } from "../../../storage/row-order.ts";
import { TABLE, tableKey } from "../../../storage/schema.ts";
import type { VersionedTable } from "../../../storage/versioned-table.ts";
import { TRIE_KEY_LENGTH } from "../../../trie/build-trie.ts";
import { HASH_LENGTH } from "../../../trie/node.ts";
import type { NodeSink } from "../../../trie/trie-update.ts";
import type { StateEntries } from "../../records/state-entries.ts";
import { writeHashedAddress, writeHashedSlot } from "../hashed-keys.ts";
import { buildStateTrie, type StateKeys, stateKeys } from "../nodes/build-state-trie.ts";
import { HISTORY_DEPTH, wholeVersionRow } from "../nodes/node-history.ts";
import { firstNodeRow } from "../nodes/trie-node-table.ts";

const ADDRESS_LENGTH = 20;
const SLOT_KEY_LENGTH = 52;
/** Rows of one transaction: some 10 ms. A longer one, of a code, has its own. */
const BATCH_BYTES = 1 << 20;

type RowSink = Pick<KvWriter, "put">;

/** Rows that are committed some at a time. They wait in one buffer: as objects they would be the garbage collector's work. */
class RowBatches implements RowSink {
  readonly #kv: Kv;
  readonly #onCommit: () => void;
  readonly #bytes = new Uint8Array(BATCH_BYTES);
  /** Where each key and each value ends, in turn. */
  readonly #ends: number[] = [];
  #used = 0;

  constructor(kv: Kv, onCommit: () => void) {
    this.#kv = kv;
    this.#onCommit = onCommit;
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

/**
 * Writes all rows of the state that block 0 makes, table by table in the order of their keys, from its record. What blocks and merges would
 * write of it, without holding nodes and versions in memory: for a million accounts those are more than a gigabyte.
 * A process that is killed leaves some of the rows; written again they are the same.
 * @param position of the record in the log
 * @returns the root
 */
export function loadGenesisState(
  entries: StateEntries,
  position: number,
  {
    kv,
    accounts,
    slots,
    onCommit,
  }: {
    readonly kv: Kv;
    readonly accounts: VersionedTable;
    readonly slots: VersionedTable;
    readonly onCommit: () => void;
  },
): Uint8Array {
  const rows = new RowBatches(kv, onCommit);
  const keys = stateKeys(entries);
  const order = byPrefix(entries.accountCount, (i) => keyPrefix(entries.address(i)));
  for (const i of order) accounts.putLatest(rows, 0, entries.address(i), entries.account(i));
  forEachSlot(entries, order, (key, slot) =>
    slots.putLatest(rows, 0, key, entries.slotValue(slot)),
  );
  writeHashedKeys(rows, entries, keys, order);
  // After the hashed keys: that a key has a history row means to a later merge that it has that row too.
  for (const i of order) {
    const at = LogReader.payloadPosition(position, entries.accountOffset(i));
    accounts.putFirstVersion(rows, 0, entries.address(i), at);
  }
  forEachSlot(entries, order, (key, slot) => {
    const at = LogReader.payloadPosition(position, entries.slotOffset(slot));
    slots.putFirstVersion(rows, 0, key, at);
  });
  for (const { hash, code } of entries.codes) rows.put(tableKey(TABLE.code, hash), code);
  const root = buildStateTrie(entries, keys, (owner) => nodeSink(rows, owner));
  rows.commit();
  return root;
}

/** Writes the rows of the nodes of one trie, and of the versions of those near its root. */
function nodeSink(rows: RowSink, owner: Uint8Array): Pick<NodeSink, "add"> {
  return {
    add(path, depth, rlp, length) {
      const hash = allocateShared(HASH_LENGTH);
      const bytes = length === rlp.length ? rlp : rlp.subarray(0, length);
      if (rlp === keccakMessage) keccak256Message(length, hash, 0);
      else hash.set(keccak256(bytes));
      const place = path.subarray(0, depth);
      const { key, value } = firstNodeRow(owner, place, hash, bytes);
      rows.put(key, value);
      if (depth <= HISTORY_DEPTH) {
        const version = wholeVersionRow(owner, place, 0, bytes);
        rows.put(version.key, version.value);
      }
      return hash;
    },
  };
}

function writeHashedKeys(
  rows: RowSink,
  entries: StateEntries,
  { addresses, order, slots, slotOrder }: StateKeys,
  byAddress: Iterable<number>,
): void {
  const hashAt = (hashes: Uint8Array, index: number) =>
    hashes.subarray(index * TRIE_KEY_LENGTH, (index + 1) * TRIE_KEY_LENGTH);
  for (let i = 0; i < order.length; i++) {
    const index = order[i]!;
    writeHashedAddress(rows, entries.address(index), hashAt(addresses, index));
  }
  for (const index of byAddress) {
    const inOrder = slotOrder(index);
    for (let i = 0; i < inOrder.length; i++) {
      const slot = inOrder[i]!;
      writeHashedSlot(rows, slotKey(entries, index, slot), hashAt(slots, slot));
    }
  }
}

/** Each slot with its key, in the order of the keys as far as the first bytes of address and slot say. */
function forEachSlot(
  entries: StateEntries,
  byAddress: Iterable<number>,
  visit: (key: Uint8Array, slot: number) => void,
): void {
  for (const index of byAddress) {
    const [first, end] = [entries.firstSlot(index), entries.firstSlot(index + 1)];
    if (first === end) continue;
    const keys = Array.from({ length: end - first }, (_, i) => slotKey(entries, index, first + i));
    for (const i of byPrefix(keys.length, (i) => keyPrefix(keys[i]!.subarray(ADDRESS_LENGTH)))) {
      visit(keys[i]!, first + i);
    }
  }
}

/** address ‖ slot */
function slotKey(entries: StateEntries, index: number, slot: number): Uint8Array {
  const key = allocateShared(SLOT_KEY_LENGTH);
  key.set(entries.address(index));
  entries.writeSlot(slot, key, ADDRESS_LENGTH);
  return key;
}
