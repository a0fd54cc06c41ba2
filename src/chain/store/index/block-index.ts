import { type Address, addressFromBytes } from "../../../primitives/address.ts";
import { EMPTY_BYTES } from "../../../primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../../primitives/hash.ts";
import { bytesToHex } from "../../../primitives/hex.ts";
import { keccak256 } from "../../../primitives/keccak.ts";
import { ByteReader } from "../../../storage/byte-io.ts";
import { type Kv, KvMissingRowError, type KvWriter, type MissingRow } from "../../../storage/kv.ts";
import { LogCorruptionError, LogReader } from "../../../storage/log-reader.ts";
import { byPrefix, inRowOrder, keyPrefix } from "../../../storage/row-order.ts";
import {
  assertKnownFormat,
  INDEX_FORMAT,
  META,
  numberFromKey,
  numberKey,
  TABLE,
  tableKey,
} from "../../../storage/schema.ts";
import { VersionedTable } from "../../../storage/versioned-table.ts";
import type { NodeBatch } from "../../../trie/node-batch.ts";
import type { TrieNodeReader } from "../../../trie/node-store.ts";
import { LogIndex } from "../../logs/log-index.ts";
import {
  ACCOUNT_ENTRY_BYTES_MAX,
  accountEntryValue,
  type ChangeRow,
  type ChangeRows,
  SLOT_ENTRY_BYTES_MAX,
  slotEntryValue,
} from "../../records/changes-record.ts";
import type { IndexedParts } from "../../records/indexed-block.ts";
import type { StateEntries } from "../../records/state-entries.ts";
import {
  addressesFrom,
  addressWithHash,
  type HashedKeys,
  removeHashedAddress,
  removeHashedSlot,
  slotWithHash,
  writeHashedAddress,
  writeHashedSlot,
} from "../hashed-keys.ts";
import { HistoricNodes } from "../nodes/historic-nodes.ts";
import { NodeHistory } from "../nodes/node-history.ts";
import { TrieNodeTable } from "../nodes/trie-node-table.ts";
import { type PrunedRanges, readPrunedRanges } from "../retention/pruned-range.ts";
import { IndexMismatchError } from "../store-errors.ts";
import {
  type Applied,
  codeKey,
  metaKey,
  positionKey,
  readApplied,
  readVarint,
  stateRootKey,
  varints,
  writeApplied,
} from "./index-rows.ts";
import { loadGenesisState } from "./load-genesis.ts";
import { MERGE_LIMITS, type MergeLimits } from "./merge-limits.ts";
import { RecentCodes } from "./recent-codes.ts";
import { UndoMarks } from "./undo-marks.ts";

/** One block as the index takes it. */
export type IndexedBlock = {
  readonly executed: IndexedParts;
  readonly rows: ChangeRows;
  /** of its record in the log */
  readonly position: number;
  /** log position after its record */
  readonly end: number;
};

/** Block 0 in the log. */
export type GenesisRecord = Omit<IndexedBlock, "rows"> & {
  /** of the bytes of its state in the record */
  readonly offset: number;
};

export type BlockIndexOptions = {
  readonly limits?: MergeLimits | undefined;
  readonly missingRow?: MissingRow;
  /** Memory for the codes read last. */
  readonly codeBytesMax: number;
  /** This index and the index of addresses are the only writers of rows, so the store can undo blocks. */
  readonly canUndo?: boolean;
};

/** Half of the longest pause a node may have: the commit of the transaction comes on top. */
const SLICE_MS = 8;

/** Everything that can be looked up without reading the log from its beginning. */
export class BlockIndex {
  readonly #kv: Kv;
  readonly #limits: MergeLimits;
  readonly #missingRow: MissingRow;
  readonly accounts: VersionedTable;
  readonly slots: VersionedTable;
  readonly trieNodes: TrieNodeTable;
  readonly nodeHistory: NodeHistory;
  readonly #codes: RecentCodes;
  readonly logs: LogIndex;
  readonly pruned: PrunedRanges;
  /** The row that names the format is there, written with the first block. */
  #hasFormat: boolean;
  /** Blocks from genesis of which nothing waits for a merge. */
  #mergedBlocks: number;
  /** Blocks that will be when the merge under way ends; undefined when there is none. */
  #mergingBlocks: number | undefined;
  /** Merges that ended since the index was made. */
  #lastMerge: number;
  readonly #undoMarks: UndoMarks;
  /** Keys of the merge under way, and how many of them are written. */
  #mergeKeys = 0;
  #mergedKeys = 0;

  /**
   * @param missingRow given by the writer: rows that must exist are checked where that costs little
   * @throws IndexMismatchError where the index has an older format, UnknownFormatError a newer one
   */
  constructor(
    kv: Kv,
    log: LogReader,
    { limits = MERGE_LIMITS, missingRow, codeBytesMax, canUndo = false }: BlockIndexOptions,
  ) {
    this.#kv = kv;
    this.#codes = new RecentCodes(codeBytesMax);
    this.#undoMarks = new UndoMarks(canUndo ? kv.undo : undefined);
    this.#limits = limits;
    this.#missingRow = missingRow ?? ((key) => new KvMissingRowError({ key: bytesToHex(key) }));
    const format = readVarint(kv.get(metaKey(META.format)));
    if (format !== undefined && format < INDEX_FORMAT) {
      const details = { found: format, known: INDEX_FORMAT };
      throw new IndexMismatchError(`index has the older format ${format}`, details);
    }
    if (format !== undefined) assertKnownFormat("index", format, INDEX_FORMAT);
    this.#hasFormat = format !== undefined;
    const valueAt =
      (length: number, valueIn: typeof accountEntryValue) =>
      (key: Uint8Array, position: number): Uint8Array | undefined => {
        const value = valueIn(log.read(position, length), key);
        if (value === null) {
          throw new LogCorruptionError({ position, reason: `no entry of ${bytesToHex(key)}` });
        }
        return value;
      };
    this.accounts = new VersionedTable({
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
    this.slots = new VersionedTable({
      kv,
      latestTable: TABLE.slot,
      historyTable: TABLE.slotHistory,
      baseTable: TABLE.slotBase,
      keyLength: 52,
      valueAt: valueAt(SLOT_ENTRY_BYTES_MAX, slotEntryValue),
      missingRow,
      onFirstVersion: writeHashedSlot,
      onLastVersion: removeHashedSlot,
    });
    this.trieNodes = new TrieNodeTable(kv);
    this.nodeHistory = new NodeHistory(kv);
    this.logs = new LogIndex(kv, limits.logs, missingRow);
    this.#mergedBlocks = this.checkpoint();
    this.#lastMerge = readVarint(kv.get(metaKey(META.lastMerge))) ?? 0;
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

  /** Blocks from genesis of which nothing has to be remembered after a restart. */
  get mergedBlocks(): number {
    return this.#mergedBlocks;
  }

  /** Blocks from genesis at the last checkpoint, whose state all rows of trie nodes together are; 0 before the first. */
  checkpoint(): number {
    return readVarint(this.#kv.get(metaKey(META.checkpoint))) ?? 0;
  }

  /**
   * Where the process died in a merge: the number of blocks it was to end with. The same merge has to be made again before any other: some
   * rows are of its end.
   */
  interruptedMerge(): number | undefined {
    const blocks = readVarint(this.#kv.get(metaKey(META.mergingBlocks))) ?? 0;
    return blocks > this.#mergedBlocks ? blocks : undefined;
  }

  /** Number of the first block; undefined while there is none. */
  firstNumber(): number | undefined {
    const range = { from: tableKey(TABLE.position), to: tableKey(TABLE.position + 1), limit: 1 };
    for (const [key] of this.#kv.range(range)) return numberFromKey(key, 1);
    return undefined;
  }

  /** Position of a block's record. */
  position(number: number): number | undefined {
    return readVarint(this.#kv.get(positionKey(number)));
  }

  numberOf(blockHash: Hash): number | undefined {
    return readVarint(this.#kv.get(tableKey(TABLE.blockByHash, hashToBytes(blockHash))));
  }

  /** A block that has this state root. */
  numberOfState(stateRoot: Hash): number | undefined {
    return readVarint(this.#kv.get(stateRootKey(stateRoot)));
  }

  transaction(hash: Hash): { readonly number: number; readonly index: number } | undefined {
    const row = this.#kv.get(tableKey(TABLE.transaction, hashToBytes(hash)));
    if (row === undefined) return undefined;
    const reader = new ByteReader(row);
    return { number: reader.varint(), index: reader.varint() };
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
    const code = this.#kv.get(codeKey(codeHash));
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

  /** Position of a stored block's record. @throws KvMissingRowError */
  knownPosition(number: number): number {
    const position = this.position(number);
    if (position === undefined) throw this.#missingRow(positionKey(number));
    return position;
  }

  /**
   * Writes block 0 with all of its state, and the checkpoint after it, in place of all rows. A process that dies leaves an index without blocks.
   * @param recordOf the record with this state root, which is in the log
   */
  writeGenesis(
    entries: StateEntries,
    recordOf: (stateRoot: Hash) => GenesisRecord,
    onCommit = () => {},
  ): void {
    const tables = { kv: this.#kv, accounts: this.accounts, slots: this.slots, onCommit };
    let record: GenesisRecord | undefined;
    loadGenesisState(entries, tables, (root) => {
      record = recordOf(hashFromBytes(root));
      return record;
    });
    const { executed, position, end } = record!;
    const { hash, header } = executed.block;
    this.#kv.transaction((writer) => {
      this.writeBlock(writer, { executed, position });
      writer.put(stateRootKey(header.stateRoot), varints(0));
      writeApplied(writer, { number: 0, hash, end });
      this.#writeCheckpoint(writer, 1);
    });
    this.#checkpointWritten(1);
    this.#hasFormat = true;
    this.logs.remember(executed);
  }

  /** Writes the rows of the block after the last one; `remember` follows once they are committed. */
  write(writer: KvWriter, block: IndexedBlock): void {
    const { executed, position, end, rows } = block;
    const { hash, header } = executed.block;
    const { number } = header;
    const rootKey = stateRootKey(header.stateRoot);
    this.writeBlock(writer, block);
    // A B-tree takes neighbours one after the other in less time than rows in any order.
    for (const row of inRowOrder(rows.accounts, ({ key }) => key)) {
      this.accounts.write(writer, number, placed(row, position));
    }
    for (const row of inRowOrder(rows.slots, ({ key }) => key)) {
      this.slots.write(writer, number, placed(row, position));
    }
    for (const { hash, code } of rows.codes) writer.put(tableKey(TABLE.code, hash), code);
    if (writer.get(rootKey) === undefined) writer.put(rootKey, varints(number));
    writeApplied(writer, { number, hash, end });
  }

  /** The part of `write` that has nothing to do with state. */
  writeBlock(writer: KvWriter, { executed, position }: Omit<IndexedBlock, "rows" | "end">): void {
    const { hash, header, transactions } = executed.block;
    const { number } = header;
    writer.put(tableKey(TABLE.position, numberKey(number)), varints(position));
    writer.put(tableKey(TABLE.blockByHash, hashToBytes(hash)), varints(number));
    const hashes = transactions.map(({ hash }) => hashToBytes(hash));
    for (const index of byPrefix(hashes.length, (i) => keyPrefix(hashes[i]!))) {
      writer.put(tableKey(TABLE.transaction, hashes[index]!), varints(number, index));
    }
    if (!this.#hasFormat) writer.put(metaKey(META.format), varints(INDEX_FORMAT));
  }

  /** Removes the rows that `writeBlock` wrote, but for transactions. */
  removeBlock(writer: KvWriter, hash: Hash, number: number): void {
    writer.remove(tableKey(TABLE.blockByHash, hashToBytes(hash)));
    writer.remove(positionKey(number));
  }

  /** Removes the row of a transaction of block `number`; a later block may have included it too. */
  removeTransaction(writer: KvWriter, hash: Uint8Array, number: number): void {
    const key = tableKey(TABLE.transaction, hash);
    if (readVarint(writer.get(key)) === number) writer.remove(key);
  }

  /** The state of block `number` is no longer served: its root names block `next`, if that has the same. */
  moveStateRoot(writer: KvWriter, root: Hash, number: number, next: number | undefined): void {
    const key = stateRootKey(root);
    if (readVarint(writer.get(key)) !== number) return;
    if (next === undefined) writer.remove(key);
    else writer.put(key, varints(next));
  }

  /** Writes a part of the oldest state, that after block `number`. */
  writeOldestValues(writer: KvWriter, number: number, rows: ChangeRows): void {
    for (const { key, value } of rows.accounts) {
      if (value !== undefined) this.accounts.writeOldest(writer, number, key, value);
    }
    for (const { key, value } of rows.slots) {
      if (value !== undefined) this.slots.writeOldest(writer, number, key, value);
    }
    for (const { hash, code } of rows.codes) writer.put(tableKey(TABLE.code, hash), code);
  }

  /** All of the oldest state is written: none before it is served, and its block is the newest. */
  writeOldestState(writer: KvWriter, stateRoot: Hash, block: Applied): void {
    const { number } = block;
    writer.put(stateRootKey(stateRoot), varints(number));
    this.pruned.states.write(writer, number, number + 1);
    this.pruned.proofs.write(writer, number, number + 1);
    this.applyPrunedRanges();
    writeApplied(writer, block);
  }

  /** Notes where the block's changes are, its trie nodes and its logs: what is written by a merge. */
  remember({ executed, position, rows }: IndexedBlock, nodes: NodeBatch): void {
    const { number } = executed.block.header;
    this.#hasFormat = true;
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
    for (const row of rows.accounts) this.accounts.remember(number, placed(row, position));
    for (const row of rows.slots) this.slots.remember(number, placed(row, position));
  }

  /** Drops what a reader remembered of blocks that the writer has merged: all before block `number`. */
  forgetMerged(number: number): void {
    this.accounts.forgetBefore(number);
    this.slots.forgetBefore(number);
    this.trieNodes.reset();
    this.#mergedBlocks = number;
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

  /**
   * Makes `last` the last block; `removed` are all after it. After an exception the index must be opened again.
   * @param nodesBack nodes that lead from the state of the last block to that after `last`; asked for where rows or a merge under way
   * have nodes of the removed blocks
   */
  rollback(last: Applied, removed: readonly IndexedBlock[], nodesBack: () => NodeBatch): void {
    this.#undoMarks.clear();
    const head = last.number + removed.length;
    if (last.number + 1 < (this.#mergingBlocks ?? 0)) this.mergeAll(head);
    // What no merge has written goes from memory alone.
    const mergedBlocks = this.#mergedBlocks;
    const isMerged = last.number + 1 < mergedBlocks;
    const nodes = isMerged ? nodesBack() : undefined;
    this.nodeHistory.forgetAfter(last.number);
    if (nodes === undefined) {
      this.trieNodes.forgetAfter(last.number);
    } else {
      this.trieNodes.remember(head, nodes);
      this.trieNodes.beginMerge(this.#lastMerge + 1);
    }
    this.#kv.transaction((writer) => {
      // In one transaction with all else: half of it would be rows of neither state.
      if (isMerged) this.trieNodes.mergeRest(writer);
      const accountKeys = new Map<string, Uint8Array>();
      const slotKeys = new Map<string, Uint8Array>();
      for (const { executed, rows } of removed) {
        const { hash, header, transactions } = executed.block;
        const rootKey = stateRootKey(header.stateRoot);
        if (readVarint(writer.get(rootKey)) === header.number) writer.remove(rootKey);
        writer.remove(tableKey(TABLE.position, numberKey(header.number)));
        writer.remove(tableKey(TABLE.blockByHash, hashToBytes(hash)));
        for (const { hash } of transactions) {
          writer.remove(tableKey(TABLE.transaction, hashToBytes(hash)));
        }
        for (const { key } of rows.accounts) {
          accountKeys.set(bytesToHex(key), key);
          if (header.number >= mergedBlocks) continue;
          this.nodeHistory.removeVersions(writer, EMPTY_BYTES, keccak256(key), header.number);
        }
        for (const { key } of rows.slots) {
          slotKeys.set(bytesToHex(key), key);
          if (header.number >= mergedBlocks) continue;
          const owner = keccak256(key.subarray(0, 20));
          const slot = keccak256(key.subarray(20));
          this.nodeHistory.removeVersions(writer, EMPTY_BYTES, owner, header.number);
          this.nodeHistory.removeVersions(writer, owner, slot, header.number);
        }
      }
      this.accounts.rollback(writer, last.number, accountKeys.values());
      this.slots.rollback(writer, last.number, slotKeys.values());
      this.logs.rollback(
        writer,
        last.number,
        removed.map(({ executed }) => executed),
      );
      writeApplied(writer, last);
      if (isMerged) this.#writeCheckpoint(writer, last.number + 1);
    });
    if (isMerged) this.#checkpointWritten(last.number + 1);
  }

  /** True when `mergeSome` has something to do; `number` is the last block. */
  needsMerge(number: number): boolean {
    if (this.#mergingBlocks !== undefined || this.logs.needsMerge()) return true;
    return number + 1 - this.#mergedBlocks >= this.#limits.blocksMin || this.#waitingShare() >= 1;
  }

  /**
   * True when a part has to be merged before the next block: of the merge under way less is done than there is again of what the next one
   * will have. So memory is bounded, and each block pays for as much as it adds.
   */
  isMergeLate(): boolean {
    if (this.logs.isMergeLate()) return true;
    const share = this.#waitingShare();
    return share >= 1 || this.#mergedKeys < share * this.#mergeKeys;
  }

  /** What waits for the next merge as a share of what begins one. */
  #waitingShare(): number {
    const { versionsMin, nodeBytesMin } = this.#limits;
    const versions = this.accounts.recentVersions + this.slots.recentVersions;
    const nodeBytes = this.trieNodes.recentBytes + this.nodeHistory.recentBytes;
    return Math.max(versions / versionsMin, nodeBytes / nodeBytesMin);
  }

  /** Moves a part of what waits, up to block `number`, into rows; true while there is more to do. */
  mergeSome(number: number): boolean {
    this.#undoMarks.clear();
    if (this.logs.needsMerge()) {
      this.mergeLogs();
      return true;
    }
    if (this.#mergingBlocks === undefined) {
      this.#beginMerge(number + 1);
      return true;
    }
    const { keysMax, sliceMs = SLICE_MS } = this.#limits;
    const end = performance.now() + sliceMs;
    const isLate = () => performance.now() >= end;
    for (const table of [this.accounts, this.slots, this.nodeHistory, this.trieNodes]) {
      const keys = table.mergeSome(keysMax, isLate);
      this.#mergedKeys += keys;
      if (keys > 0) return true;
    }
    const blocks = this.#mergingBlocks;
    this.#kv.transaction((writer) => this.#writeCheckpoint(writer, blocks), true);
    this.#checkpointWritten(blocks);
    return false;
  }

  /** Moves a part of the logs that wait into rows. */
  mergeLogs(): void {
    this.#undoMarks.clear();
    this.logs.mergeSome();
  }

  /** Merges everything up to block `number`, the last one. */
  mergeAll(number: number): void {
    while (this.#mergedBlocks <= number) this.mergeSome(number);
  }

  #beginMerge(blocks: number): void {
    this.accounts.beginMerge();
    this.slots.beginMerge();
    this.nodeHistory.beginMerge();
    this.trieNodes.beginMerge(this.#lastMerge + 1);
    const tables = [this.accounts, this.slots, this.nodeHistory, this.trieNodes];
    this.#mergeKeys = tables.reduce((sum, table) => sum + table.mergingKeys, 0);
    this.#mergedKeys = 0;
    this.#mergingBlocks = blocks;
    const row = varints(blocks);
    this.#kv.transaction((writer) => writer.put(metaKey(META.mergingBlocks), row), true);
  }

  #writeCheckpoint(writer: KvWriter, blocks: number): void {
    writer.put(metaKey(META.checkpoint), varints(blocks));
    writer.put(metaKey(META.lastMerge), varints(this.#lastMerge + 1));
    writer.put(metaKey(META.mergingBlocks), varints(0));
  }

  #checkpointWritten(blocks: number): void {
    this.#lastMerge++;
    this.#mergedBlocks = blocks;
    this.#mergingBlocks = undefined;
    this.#mergeKeys = 0;
    this.trieNodes.endMerge();
  }
}

function placed({ key, value, offset }: ChangeRow, position: number) {
  return { key, value, position: LogReader.payloadPosition(position, offset) };
}
