import { type Address, addressFromBytes } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../../base/primitives/hash.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { type Kv, KvMissingRowError, type KvWriter, type MissingRow } from "../../../store/storage/kv.ts";
import { LogCorruptionError, LogReader } from "../../../store/storage/log/log-reader.ts";
import {
  assertKnownFormat,
  INDEX_FORMAT,
  INDEX_FORMAT_MIN,
  META,
  TABLE,
  tableKey,
} from "../../../store/storage/schema.ts";
import { VersionedTable } from "../../../store/storage/versioned-table.ts";
import type { NodeBatch } from "../../../store/trie/node-batch.ts";
import type { TrieNodeReader } from "../../../store/trie/node-store.ts";
import { LogIndex } from "../../logs/log-index.ts";
import {
  ACCOUNT_ENTRY_BYTES_MAX,
  accountEntryValue,
  type ChangeRows,
  SLOT_ENTRY_BYTES_MAX,
  slotEntryValue,
} from "../../records/changes-record.ts";
import type { GenesisRecord, IndexedBlock } from "../../records/indexed-block.ts";
import type { StateEntries } from "../../records/state-entries.ts";
import { IndexMismatchError } from "../../store-errors.ts";
import { HistoricNodes } from "../nodes/historic-nodes.ts";
import { NodeHistory } from "../nodes/node-history.ts";
import { TrieNodeTable } from "../nodes/trie-node-table.ts";
import {
  addressesFrom,
  addressWithHash,
  type HashedKeys,
  removeHashedAddress,
  removeHashedSlot,
  slotWithHash,
  writeHashedAddress,
  writeHashedSlot,
} from "../state/hashed-keys.ts";
import { RecentCodes } from "../state/state-caches.ts";
import {
  type Applied,
  BlockRows,
  codeKey,
  metaKey,
  readApplied,
  readVarint,
  type UnwrittenRows,
  writeApplied,
} from "./block-rows.ts";
import { IndexMerge, MERGE_LIMITS, type MergedTables, type MergeLimits, UndoMarks } from "./index-merge.ts";
import { loadGenesisState } from "./load-genesis.ts";
import { type PrunedRanges, readPrunedRanges } from "./pruned-range.ts";
import { rollBackIndex } from "./roll-back-index.ts";

export type BlockIndexOptions = {
  readonly limits?: MergeLimits | undefined;
  readonly missingRow?: MissingRow;
  /** Memory for the codes read last. */
  readonly codeBytesMax: number;
  /** This index and the index of addresses are the only writers of rows, so the store can undo blocks. */
  readonly canUndo?: boolean;
  /** Given by a reader beside the process that writes. */
  readonly unwritten?: UnwrittenRows;
};

/** Everything that can be looked up without reading the log from its beginning. */
export class BlockIndex implements MergedTables {
  readonly #kv: Kv;
  readonly #missingRow: MissingRow;
  readonly accounts: VersionedTable;
  readonly slots: VersionedTable;
  readonly trieNodes: TrieNodeTable;
  readonly nodeHistory: NodeHistory;
  readonly #codes: RecentCodes;
  readonly #unwritten: UnwrittenRows | undefined;
  readonly logs: LogIndex;
  readonly pruned: PrunedRanges;
  readonly #undoMarks: UndoMarks;
  /** The rows that find blocks. */
  readonly blocks: BlockRows;
  readonly merge: IndexMerge;

  /**
   * @param missingRow given by the writer: rows that must exist are checked where that costs little
   * @throws IndexMismatchError where the index has an older format, UnknownFormatError a newer one
   */
  constructor(
    kv: Kv,
    log: LogReader,
    { limits = MERGE_LIMITS, missingRow, codeBytesMax, canUndo = false, unwritten }: BlockIndexOptions,
  ) {
    this.#kv = kv;
    this.#unwritten = unwritten;
    this.#codes = new RecentCodes(codeBytesMax);
    this.#undoMarks = new UndoMarks(canUndo && !limits.dropsReplacedNodes ? kv.undo : undefined);
    this.#missingRow = missingRow ?? ((key) => new KvMissingRowError({ key: bytesToHex(key) }));
    const format = readVarint(kv.get(metaKey(META.format)));
    if (format !== undefined && format < INDEX_FORMAT_MIN) {
      const details = { found: format, known: INDEX_FORMAT };
      throw new IndexMismatchError(`index has the older format ${format}`, details);
    }
    if (format !== undefined && format > INDEX_FORMAT) assertKnownFormat("index", format, INDEX_FORMAT);
    this.blocks = new BlockRows(kv, this.#missingRow, unwritten);
    const { accounts, slots } = createStateTables(kv, log, missingRow);
    this.accounts = accounts;
    this.slots = slots;
    this.trieNodes = new TrieNodeTable(kv, { dropsReplaced: limits.dropsReplacedNodes });
    this.nodeHistory = new NodeHistory(kv, { encodesAtOnce: limits.dropsReplacedNodes });
    this.logs = new LogIndex(kv, limits.logs, missingRow);
    this.merge = new IndexMerge(kv, this, limits, this.#undoMarks);
    this.pruned = readPrunedRanges(kv);
    this.applyPrunedRanges();
  }

  /** For a reader beside the process that writes. */
  refreshPrunedRanges(): void {
    for (const range of Object.values(this.pruned)) range.refresh(this.#kv);
    this.applyPrunedRanges();
  }

  /** After a range of `pruned` has moved. */
  applyPrunedRanges(): void {
    this.accounts.base = this.pruned.states.base;
    this.slots.base = this.pruned.states.base;
  }

  /** undefined: no block yet */
  applied(): Applied | undefined {
    return readApplied(this.#kv);
  }

  /** Every address that has or had an account, in any order. */
  *addresses(): Iterable<Address> {
    for (const key of this.accounts.keys(EMPTY_BYTES)) yield addressFromBytes(key);
  }

  /** The keys of accounts and slots by their hashes. */
  readonly hashedKeys: HashedKeys = {
    addressesFrom: (start) => addressesFrom(this.#kv, start),
    unmergedAddresses: () => this.accounts.unmergedKeys(),
    addressWithHash: (hash) => addressWithHash(this.#kv, hash),
    slotWithHash: (address, hash) => slotWithHash(this.#kv, address, hash),
    unmergedSlots: () => this.slots.unmergedKeys(),
  };

  code(codeHash: Hash): Uint8Array | undefined {
    const known = this.#codes.get(codeHash);
    if (known !== undefined) return known;
    const code = this.#unwritten?.code(codeHash) ?? this.#kv.get(codeKey(codeHash));
    if (code !== undefined) this.#codes.add(codeHash, code);
    return code;
  }

  /** Memory of the codes read last. */
  get codeBytes(): number {
    return this.#codes.bytes;
  }

  /** Length of each code. */
  *codeLengths(): Iterable<number> {
    const range = { from: tableKey(TABLE.code), to: tableKey(TABLE.code + 1) };
    for (const [, code] of this.#kv.range(range)) yield code.length;
  }

  /** Trie nodes of the state after block `number`, at or before the last checkpoint. */
  historicNodes(number: number): TrieNodeReader {
    return new HistoricNodes(this.#kv, this, number);
  }

  /** The code that an account refers to. @throws KvMissingRowError */
  knownCode(codeHash: Hash): Uint8Array {
    const code = this.code(codeHash);
    if (code === undefined) throw this.#missingRow(codeKey(codeHash));
    return code;
  }

  /**
   * Replaces all rows by those of block 0, its whole state and the checkpoint after it. A process that dies here leaves an index without blocks.
   * @param recordOf the record with this state root, which is in the log
   */
  writeGenesis(entries: StateEntries, recordOf: (stateRoot: Hash) => GenesisRecord, onCommit = () => {}): void {
    const tables = { kv: this.#kv, onCommit };
    let record: GenesisRecord | undefined;
    loadGenesisState(entries, tables, (root) => {
      record = recordOf(hashFromBytes(root));
      return record;
    });
    const { executed, position, end } = record!;
    const { hash, header } = executed.block;
    this.#kv.transaction((writer) => {
      this.blocks.write(writer, executed, position);
      this.blocks.writeStateRoot(writer, header.stateRoot, 0);
      writeApplied(writer, { number: 0, hash, end });
      this.merge.writeCheckpoint(writer, 1);
    });
    this.merge.checkpointWritten(1);
    this.logs.remember(executed);
  }

  /** Writes the rows that find the block after the last one; `remember` follows once they are committed. */
  write(writer: KvWriter, block: IndexedBlock): void {
    const { executed, position, end, rows } = block;
    const { hash, header } = executed.block;
    const { number } = header;
    this.blocks.write(writer, executed, position);
    for (const { hash, code } of rows.codes) writer.put(tableKey(TABLE.code, hash), code);
    this.blocks.writeStateRoot(writer, header.stateRoot, number);
    writeApplied(writer, { number, hash, end });
  }

  /** All of the oldest state is written: none before it is served, and its block is the newest. */
  writeOldestState(writer: KvWriter, stateRoot: Hash, block: Applied): void {
    const { number } = block;
    this.blocks.writeStateRoot(writer, stateRoot, number);
    this.pruned.states.write(writer, number, number + 1);
    this.pruned.proofs.write(writer, number, number + 1);
    this.applyPrunedRanges();
    writeApplied(writer, block);
  }

  /** Notes the block's changes, its trie nodes and its logs: what is written by a merge. */
  remember({ executed, position, rows }: IndexedBlock, nodes: NodeBatch): void {
    const { number } = executed.block.header;
    this.logs.remember(executed);
    this.rememberNodes(number, nodes);
    this.rememberVersions(number, position, rows);
  }

  /** Notes the trie nodes of a block until a merge writes them. */
  rememberNodes(number: number, nodes: NodeBatch): void {
    // First, while the table still has what is replaced.
    this.nodeHistory.remember(number, nodes, this.trieNodes);
    this.trieNodes.remember(number, nodes);
  }

  /** The part of `remember` that a reader in another thread needs, where the writer has written the rows. */
  rememberVersions(number: number, position: number, rows: ChangeRows): void {
    const payload = LogReader.payloadPosition(position, 0);
    for (const { key, value, offset } of rows.accounts) {
      this.accounts.remember(number, { key, value, position: payload + offset });
    }
    for (const { key, value, offset } of rows.slots) {
      this.slots.remember(number, { key, value, position: payload + offset });
    }
  }

  /** Drops what a reader remembered of blocks that the writer has merged: all before block `number`. */
  forgetMerged(number: number): void {
    this.accounts.forgetBefore(number);
    this.slots.forgetBefore(number);
    this.trieNodes.reset();
    this.merge.follow(number);
  }

  /** All rows of blocks up to `number`, the last one, are written and committed. */
  markState(number: number): void {
    this.#undoMarks.add(number);
  }

  /** Makes block `number` the last one if all after it can be undone as they were written: in memory, before any merge. */
  undoTo(number: number): boolean {
    if (!this.#undoMarks.undoTo(number)) return false;
    this.accounts.forgetAfter(number);
    this.slots.forgetAfter(number);
    this.nodeHistory.forgetAfter(number);
    this.trieNodes.forgetAfter(number);
    this.logs.forgetAfter(number);
    return true;
  }

  /** Makes `last` the last block; `removed` are all after it (roll-back-index.ts). */
  rollback(last: Applied, removed: readonly IndexedBlock[], nodesBack: () => NodeBatch): void {
    this.#undoMarks.clear();
    rollBackIndex(this.#kv, this, last, removed, nodesBack);
  }
}

/** The accounts and slots of all states, whose old values are in the records of the log. */
function createStateTables(
  kv: Kv,
  log: LogReader,
  missingRow: MissingRow | undefined,
): { readonly accounts: VersionedTable; readonly slots: VersionedTable } {
  const valueAt =
    (length: number, valueIn: typeof accountEntryValue) =>
    (key: Uint8Array, position: number): Uint8Array | undefined => {
      const value = valueIn(log.read(position, length), key);
      if (value === null) {
        throw new LogCorruptionError({ position, reason: `no entry of ${bytesToHex(key)}` });
      }
      return value;
    };
  const accounts = new VersionedTable({
    kv,
    latestTable: TABLE.account,
    historyTable: TABLE.accountHistory,
    baseTable: TABLE.accountBase,
    keyLength: 20,
    valueAt: valueAt(ACCOUNT_ENTRY_BYTES_MAX, accountEntryValue),
    missingRow,
    onFirstVersion: writeHashedAddress,
    onLastVersion: removeHashedAddress,
  });
  const slots = new VersionedTable({
    kv,
    latestTable: TABLE.slot,
    historyTable: TABLE.slotHistory,
    baseTable: TABLE.slotBase,
    keyLength: 52,
    prefixLength: 20,
    valueAt: valueAt(SLOT_ENTRY_BYTES_MAX, slotEntryValue),
    missingRow,
    onFirstVersion: writeHashedSlot,
    onLastVersion: removeHashedSlot,
  });
  return { accounts, slots };
}
