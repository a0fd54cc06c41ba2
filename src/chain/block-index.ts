import { type Hash, hashToBytes } from "../primitives/hash.ts";
import { bytesToHex } from "../primitives/hex.ts";
import { BlockLog, LogCorruptionError } from "../storage/block-log.ts";
import { ByteReader, ByteWriter } from "../storage/byte-io.ts";
import type { Kv, KvReader, KvWriter } from "../storage/kv.ts";
import {
  assertKnownFormat,
  INDEX_FORMAT,
  META,
  numberKey,
  TABLE,
  tableKey,
} from "../storage/schema.ts";
import { VersionedTable } from "../storage/versioned-table.ts";
import type { TrieNode, TrieNodeReader } from "../trie/node-store.ts";
import {
  ACCOUNT_ENTRY_BYTES_MAX,
  accountEntryValue,
  type ChangeRow,
  type ChangeRows,
  SLOT_ENTRY_BYTES_MAX,
  slotEntryValue,
} from "./changes-record.ts";

/** The last block whose rows are in the index. */
export type Applied = {
  readonly number: number;
  readonly hash: Hash;
  /** log position behind its record */
  readonly end: number;
};

/** One block as the index takes it. */
export type IndexedBlock = {
  readonly number: number;
  readonly hash: Hash;
  readonly transactionHashes: readonly Hash[];
  readonly rows: ChangeRows;
  /** of its record in the log */
  readonly position: number;
  /** behind its record */
  readonly end: number;
};

/** When history that waits in memory goes to its rows. */
export type MergeLimits = {
  /** A merge begins when this many versions wait; twice as many hold up the next block. */
  readonly versionsMin: number;
  /** Or when this many blocks wait, so that a restart has few records to read again. */
  readonly blocksMin: number;
  /** Keys merged in one transaction, during which nothing else runs. */
  readonly keysMax: number;
};

/** 50,000 versions take about 10 MB; 2,000 keys take some 10 ms. */
const MERGE_LIMITS: MergeLimits = { versionsMin: 50_000, blocksMin: 1_000, keysMax: 2_000 };

/** Ends the nibbles of a path in a node's key: no nibble is 16, so no path's key begins another's. */
const PATH_END = Uint8Array.of(0x10);
const NODE_HASH_LENGTH = 16;

/** Everything that can be looked up without reading the log from its beginning. */
export class BlockIndex implements TrieNodeReader {
  readonly #kv: Kv;
  readonly #limits: MergeLimits;
  readonly accounts: VersionedTable;
  readonly slots: VersionedTable;
  /** Blocks from genesis whose changes are complete in the history rows. */
  #historyBlocks: number;
  /** Blocks that will be when the merge under way ends; undefined when there is none. */
  #mergingBlocks: number | undefined;

  /** @throws UnknownFormatError */
  constructor(kv: Kv, log: BlockLog, limits: MergeLimits = MERGE_LIMITS) {
    this.#kv = kv;
    this.#limits = limits;
    const format = kv.get(metaKey(META.format));
    if (format !== undefined) {
      assertKnownFormat("index", new ByteReader(format).varint(), INDEX_FORMAT);
    }
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
      keyLength: 20,
      valueAt: valueAt(ACCOUNT_ENTRY_BYTES_MAX, accountEntryValue),
    });
    this.slots = new VersionedTable({
      kv,
      latestTable: TABLE.slot,
      historyTable: TABLE.slotHistory,
      keyLength: 52,
      valueAt: valueAt(SLOT_ENTRY_BYTES_MAX, slotEntryValue),
    });
    this.#historyBlocks = readVarint(kv.get(metaKey(META.historyBlocks))) ?? 0;
  }

  /** undefined: no block yet */
  applied(): Applied | undefined {
    return readApplied(this.#kv);
  }

  /** Blocks from genesis whose changes need not be remembered after a restart. */
  get historyBlocks(): number {
    return this.#historyBlocks;
  }

  /** Position of a block's record. */
  position(number: number): number | undefined {
    return readVarint(this.#kv.get(tableKey(TABLE.position, numberKey(number))));
  }

  numberOf(blockHash: Hash): number | undefined {
    return readVarint(this.#kv.get(tableKey(TABLE.blockByHash, hashToBytes(blockHash))));
  }

  transaction(hash: Hash): { readonly number: number; readonly index: number } | undefined {
    const row = this.#kv.get(tableKey(TABLE.transaction, hashToBytes(hash)));
    if (row === undefined) return undefined;
    const reader = new ByteReader(row);
    return { number: reader.varint(), index: reader.varint() };
  }

  code(codeHash: Hash): Uint8Array | undefined {
    return this.#kv.get(tableKey(TABLE.code, hashToBytes(codeHash)));
  }

  node(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    return this.#kv.get(nodeKey(owner, path, hash));
  }

  /** Writes the rows of the block after the last one; `remember` follows once they are committed. */
  write(writer: KvWriter, block: IndexedBlock, nodes: readonly TrieNode[]): void {
    const { number, hash, position, end, rows } = block;
    writer.put(tableKey(TABLE.position, numberKey(number)), varints(position));
    writer.put(tableKey(TABLE.blockByHash, hashToBytes(hash)), varints(number));
    for (const [index, txHash] of block.transactionHashes.entries()) {
      writer.put(tableKey(TABLE.transaction, hashToBytes(txHash)), varints(number, index));
    }
    for (const row of rows.accounts) this.accounts.write(writer, number, placed(row, position));
    for (const row of rows.slots) this.slots.write(writer, number, placed(row, position));
    for (const { hash, code } of rows.codes) writer.put(tableKey(TABLE.code, hash), code);
    for (const { owner, path, hash, rlp } of nodes) writer.put(nodeKey(owner, path, hash), rlp);
    if (number === 0) writer.put(metaKey(META.format), varints(INDEX_FORMAT));
    writeApplied(writer, { number, hash, end });
  }

  /** Notes where the block's changes are. */
  remember({ number, position, rows }: Pick<IndexedBlock, "number" | "position" | "rows">): void {
    for (const row of rows.accounts) this.accounts.remember(number, placed(row, position));
    for (const row of rows.slots) this.slots.remember(number, placed(row, position));
  }

  /** Makes `last` the last block; `removed` are all behind it. After an exception the index must be opened again. */
  rollback(last: Applied, removed: readonly IndexedBlock[]): void {
    this.#kv.transaction((writer) => {
      const accountKeys = new Map<string, Uint8Array>();
      const slotKeys = new Map<string, Uint8Array>();
      for (const { number, hash, transactionHashes, rows } of removed) {
        writer.remove(tableKey(TABLE.position, numberKey(number)));
        writer.remove(tableKey(TABLE.blockByHash, hashToBytes(hash)));
        for (const hash of transactionHashes) {
          writer.remove(tableKey(TABLE.transaction, hashToBytes(hash)));
        }
        for (const { key } of rows.accounts) accountKeys.set(bytesToHex(key), key);
        for (const { key } of rows.slots) slotKeys.set(bytesToHex(key), key);
      }
      this.accounts.rollback(writer, last.number, accountKeys.values());
      this.slots.rollback(writer, last.number, slotKeys.values());
      writeApplied(writer, last);
      const blocks = last.number + 1;
      if (this.#mergingBlocks !== undefined) {
        this.#mergingBlocks = Math.min(this.#mergingBlocks, blocks);
      }
      if (this.#historyBlocks > blocks) this.#setHistoryBlocks(writer, blocks);
    });
  }

  /** True when history waits in memory for `mergeSome`; `number` is the last block. */
  needsMerge(number: number): boolean {
    if (this.#mergingBlocks !== undefined) return true;
    const versions = this.accounts.recentVersions + this.slots.recentVersions;
    const blocks = number + 1 - this.#historyBlocks;
    return versions >= this.#limits.versionsMin || blocks >= this.#limits.blocksMin;
  }

  /** True when so much history waits that the next block has to as well. */
  isMergeLate(): boolean {
    return this.accounts.recentVersions + this.slots.recentVersions >= 2 * this.#limits.versionsMin;
  }

  /** Moves a part of the history up to block `number` into rows; true while there is more to do. */
  mergeSome(number: number): boolean {
    if (this.#mergingBlocks === undefined) {
      this.accounts.beginMerge();
      this.slots.beginMerge();
      this.#mergingBlocks = number + 1;
    }
    const { keysMax } = this.#limits;
    if (this.accounts.mergeSome(keysMax) || this.slots.mergeSome(keysMax)) return true;
    const blocks = this.#mergingBlocks;
    this.#kv.transaction((writer) => this.#setHistoryBlocks(writer, blocks));
    this.#mergingBlocks = undefined;
    return false;
  }

  #setHistoryBlocks(writer: KvWriter, blocks: number): void {
    writer.put(metaKey(META.historyBlocks), varints(blocks));
    this.#historyBlocks = blocks;
  }
}

/** What `kv` says about the last block in its index. */
export function readApplied(kv: KvReader): Applied | undefined {
  const row = kv.get(metaKey(META.applied));
  if (row === undefined) return undefined;
  const reader = new ByteReader(row);
  return { number: reader.varint(), hash: reader.hex(32) as Hash, end: reader.varint() };
}

function writeApplied(writer: KvWriter, { number, hash, end }: Applied): void {
  const row = new ByteWriter(64);
  row.varint(number);
  row.hex(hash);
  row.varint(end);
  writer.put(metaKey(META.applied), row.finish());
}

function placed({ key, value, offset }: ChangeRow, position: number) {
  return { key, value, position: BlockLog.payloadPosition(position, offset) };
}

function nodeKey(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array {
  const table = owner.length === 0 ? TABLE.accountTrieNode : TABLE.storageTrieNode;
  return tableKey(table, owner, path, PATH_END, hash.subarray(0, NODE_HASH_LENGTH));
}

function metaKey(name: string): Uint8Array {
  return tableKey(TABLE.meta, Buffer.from(name, "latin1"));
}

function varints(...values: readonly number[]): Uint8Array {
  const writer = new ByteWriter(16);
  for (const value of values) writer.varint(value);
  return writer.finish();
}

function readVarint(row: Uint8Array | undefined): number | undefined {
  return row === undefined ? undefined : new ByteReader(row).varint();
}
