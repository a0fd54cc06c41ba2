import { equalBytes } from "../../primitives/bytes.ts";
import { type Hash, hashToBytes } from "../../primitives/hash.ts";
import { bytesToHex } from "../../primitives/hex.ts";
import { keccak256 } from "../../primitives/keccak.ts";
import type { BlockLog } from "../../storage/block-log.ts";
import { ByteReader } from "../../storage/byte-io.ts";
import { type Kv, KvCorruptionError, type KvRow } from "../../storage/kv.ts";
import { LogReader, type LogRecord } from "../../storage/log-reader.ts";
import { TABLE } from "../../storage/schema.ts";
import type { VersionedTable } from "../../storage/versioned-table.ts";
import { headerHash } from "../../types/header-codec.ts";
import type { AddressIndex } from "../addresses/address-index.ts";
import { BlockLogs, encodeBlockLogs } from "../logs/block-logs.ts";
import { decodeBlockRecord, decodeChangeRows } from "../records/block-record.ts";
import type { ChangeRow } from "../records/changes-record.ts";
import type { BlockIndex } from "./index/block-index.ts";
import { nodesInRow } from "./nodes/trie-node-table.ts";
import { walkStateTrie } from "./nodes/walk-trie.ts";

export type StoreFault = {
  /** Of the log nothing can be made again; the index can. */
  readonly kind: "log" | "index";
  /** undefined: not of one block */
  readonly number: number | undefined;
  readonly what: string;
};

/** What a check found. The store is whole when `faultCount` is 0. */
export type StoreReport = {
  readonly blocks: number;
  readonly transactions: number;
  readonly logBytes: number;
  readonly indexRows: number;
  readonly faultCount: number;
  /** the first of them */
  readonly faults: readonly StoreFault[];
};

/** Faults listed one by one; one cause can give thousands. */
const FAULTS_LISTED_MAX = 20;

/**
 * Reads everything: the checksum of every record, hash and parent of every header, what the index
 * says of each block, and every row of the index, which must hold nothing else. Code and trie nodes
 * of blocks that were rolled back may remain. Pruning must not be under way.
 */
export function checkStore(
  log: BlockLog,
  index: BlockIndex,
  kv: Kv,
  addresses: Pick<AddressIndex, "indexedBlocks" | "storedRowsOf">,
): StoreReport {
  const faults = new Faults();
  const counts = {
    blocks: 0,
    transactions: 0,
    servedBlocks: 0,
    servedTransactions: 0,
    accountVersions: 0,
    slotVersions: 0,
    logBlocks: 0,
    logPostings: 0,
    addressRows: 0,
  };
  let previous: { readonly number: number; readonly hash: Hash } | undefined;

  const logCheck = log.check((logRecord) => {
    const record = faults.catch("log", undefined, `record at ${logRecord.position}`, () =>
      decodeBlockRecord(logRecord.payload),
    );
    if (record === undefined) return;
    const { header, hash, transactions } = record.block;
    const { number } = header;
    counts.blocks++;
    counts.transactions += transactions.length;
    const parent = previous;
    if (parent !== undefined) {
      faults.unless("log", number, "number follows", () => number === parent.number + 1);
      faults.unless(
        "log",
        number,
        "parent is the block before",
        () => header.parentHash === parent.hash,
      );
    }
    faults.unless("log", number, "hash is the header's", () => headerHash(header) === hash);
    previous = { number, hash };

    const { blocks, states } = index.pruned;
    if (number >= states.base) {
      faults.unless("index", number, "state root", () => {
        const first = index.blocks.numberOfState(header.stateRoot);
        return first !== undefined && first >= states.base && first <= number;
      });
    }
    const rows = decodeChangeRows(logRecord.payload);
    if (number > states.base || states.base === 0) {
      counts.accountVersions += rows.accounts.length;
      counts.slotVersions += rows.slots.length;
      checkChanges(faults, index.accounts, rows.accounts, number, logRecord);
      checkChanges(faults, index.slots, rows.slots, number, logRecord);
      for (const { hash: codeHash, code } of rows.codes) {
        const name = bytesToHex(codeHash) as Hash;
        faults.unless("index", number, `code ${name}`, () => isSame(index.code(name), code));
      }
    }
    if (number < blocks.base) return;
    counts.servedBlocks++;
    counts.servedTransactions += transactions.length;
    faults.unless(
      "index",
      number,
      "position",
      () => index.blocks.position(number) === logRecord.position,
    );
    faults.unless("index", number, "block hash", () => index.blocks.numberOf(hash) === number);
    for (const [i, tx] of transactions.entries()) {
      faults.unless("index", number, `transaction ${tx.hash}`, () => {
        const found = index.blocks.transaction(tx.hash);
        return found?.number === number && found.index === i;
      });
    }
    const logs = encodeBlockLogs(record);
    faults.unless("index", number, "logs", () =>
      isSame(index.logs.storedLogs(number)?.bytes, logs),
    );
    if (logs !== undefined) {
      counts.logBlocks++;
      faults.unless("index", number, "terms of logs", () => {
        const { isWhole, postings } = index.logs.holdsEveryTermOf(new BlockLogs(number, logs));
        counts.logPostings += postings;
        return isWhole;
      });
    }
    if (number <= addresses.indexedBlocks) {
      faults.unless("index", number, "addresses", () => {
        const { isWhole, rows } = addresses.storedRowsOf(record);
        counts.addressRows += rows;
        // A large block is indexed in several steps.
        return isWhole || number === addresses.indexedBlocks;
      });
    }
    if (index.merge.checkpoint() === number + 1) {
      const root = hashToBytes(header.stateRoot);
      faults.catch("index", number, "trie of the checkpoint", () => {
        walkStateTrie(index.trieNodes, root);
      });
    }
  });
  for (const { position, reason } of logCheck.faults) {
    faults.add("log", undefined, `position ${position}: ${reason}`);
  }

  const expected = previous?.hash;
  faults.unless("index", undefined, "last block", () => index.applied()?.hash === expected);
  for (const [what, table, count] of [
    ["account versions", index.accounts, counts.accountVersions],
    ["slot versions", index.slots, counts.slotVersions],
  ] as const) {
    faults.unless("index", undefined, what, () => table.versionCount() === count);
  }
  faults.unless(
    "index",
    undefined,
    "blocks with logs",
    () => index.logs.blockCount() === counts.logBlocks,
  );
  faults.unless(
    "index",
    undefined,
    "terms of all logs",
    () => index.logs.postingCount() === counts.logPostings,
  );
  const { rows, byTable } = checkRows(faults, index, kv, previous?.number ?? -1);
  for (const [table, count] of [
    ["position", counts.servedBlocks],
    ["blockByHash", counts.servedBlocks],
    ["transaction", counts.servedTransactions],
    ["addressTransaction", counts.addressRows],
  ] as const) {
    const found = byTable.get(TABLE[table]) ?? 0;
    faults.unless("index", undefined, `${found} rows in table ${table}`, () => found === count);
  }
  return {
    blocks: counts.blocks,
    transactions: counts.transactions,
    logBytes: logCheck.bytes,
    indexRows: rows,
    faultCount: faults.count,
    faults: faults.first,
  };
}

/** Every change of a block is found under its key at that block, with its value. */
function checkChanges(
  faults: Faults,
  table: VersionedTable,
  changes: readonly ChangeRow[],
  number: number,
  record: LogRecord,
): void {
  for (const { key, value, offset } of changes) {
    faults.unless("index", number, `change of ${bytesToHex(key)}`, () => {
      const position = LogReader.payloadPosition(record.position, offset);
      return (
        table.versionAt(key, number)?.position === position && isSame(table.at(key, number), value)
      );
    });
  }
}

/** Every row is undamaged and, where the row alone shows it, right. */
function checkRows(faults: Faults, index: BlockIndex, kv: Kv, head: number) {
  const byTable = new Map<number, number>();
  let rows = 0;
  const tests: Readonly<Record<number, (key: Uint8Array, value: Uint8Array) => boolean>> = {
    [TABLE.account]: (key, row) => isFounded(index.accounts, key, row, head),
    [TABLE.slot]: (key, row) => isFounded(index.slots, key, row, head),
    [TABLE.code]: (key, value) => equalBytes(keccak256(value), key),
    [TABLE.accountTrieNode]: isNode,
    [TABLE.storageTrieNode]: isNode,
  };
  const known: ReadonlySet<number> = new Set(Object.values(TABLE));
  for (const [key, value] of rowsPastDamage(faults, kv)) {
    const table = key[0]!;
    rows++;
    byTable.set(table, (byTable.get(table) ?? 0) + 1);
    const test = tests[table];
    faults.unless("index", undefined, `row ${bytesToHex(key)}`, () =>
      test === undefined ? known.has(table) : test(key.subarray(1), value),
    );
  }
  return { rows, byTable };
}

/** All rows; a damaged one is a fault, and the scan goes on after it. */
function* rowsPastDamage(faults: Faults, kv: Kv): Generator<KvRow> {
  let from: Uint8Array | undefined = new Uint8Array(1);
  while (from !== undefined) {
    const rows: Iterable<KvRow> = kv.range({ from });
    from = undefined;
    try {
      yield* rows;
    } catch (error) {
      faults.add("index", undefined, (error as Error).message);
      if (error instanceof KvCorruptionError) from = Buffer.from(`${error.details.key}00`, "hex");
    }
  }
}

/** Whether a latest value is that of a version, or the oldest of its key. */
function isFounded(table: VersionedTable, key: Uint8Array, row: Uint8Array, head: number): boolean {
  return table.versionAt(key, head) !== undefined || new ByteReader(row).varint() <= table.base;
}

function isNode(_key: Uint8Array, row: Uint8Array): boolean {
  return nodesInRow(row).every(({ hashPart, rlp }) =>
    equalBytes(keccak256(rlp).subarray(0, hashPart.length), hashPart),
  );
}

function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalBytes(a, b);
}

class Faults {
  readonly first: StoreFault[] = [];
  count = 0;

  add(kind: StoreFault["kind"], number: number | undefined, what: string): void {
    this.count++;
    if (this.first.length < FAULTS_LISTED_MAX) this.first.push({ kind, number, what });
  }

  /** What `work` returns; undefined, and a fault, when it throws. */
  catch<T>(
    kind: StoreFault["kind"],
    number: number | undefined,
    what: string,
    work: () => T,
  ): T | undefined {
    try {
      return work();
    } catch (error) {
      this.add(kind, number, `${what}: ${(error as Error).message}`);
      return undefined;
    }
  }

  unless(
    kind: StoreFault["kind"],
    number: number | undefined,
    what: string,
    test: () => boolean,
  ): void {
    if (this.catch(kind, number, what, test) === false) this.add(kind, number, what);
  }
}
