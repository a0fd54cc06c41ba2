import { equalBytes } from "../../base/primitives/bytes.ts";
import { type Hash, hashToBytes } from "../../base/primitives/hash.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { headerHash } from "../../base/types/header-codec.ts";
import { ByteReader } from "../../store/storage/byte-io.ts";
import { type Kv, KvCorruptionError, type KvRow } from "../../store/storage/kv.ts";
import type { BlockLog } from "../../store/storage/log/block-log.ts";
import { LogReader, type LogRecord } from "../../store/storage/log/log-reader.ts";
import { TABLE } from "../../store/storage/schema.ts";
import type { VersionedTable } from "../../store/storage/versioned-table.ts";
import type { AddressIndex } from "../addresses/address-index.ts";
import type { BlockRecord } from "../block-store.ts";
import { BlockLogs, encodeBlockLogs } from "../logs/block-logs.ts";
import { decodeBlockRecord, decodeChangeRows } from "../records/block-record.ts";
import type { ChangeRow } from "../records/changes-record.ts";
import type { BlockIndex } from "./index/block-index.ts";
import { nodesInRow } from "./nodes/trie-node-table.ts";
import { walkStateTrie } from "./nodes/walk-trie.ts";

type StoreFault = {
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

export type CheckModules = {
  readonly log: BlockLog;
  readonly index: BlockIndex;
  readonly kv: Kv;
  readonly addresses: Pick<AddressIndex, "indexedBlocks" | "storedRowsOf">;
};

/**
 * Reads everything: the checksum of every record, hash and parent of every header, what the index
 * says of each block, and every row of the index, which must hold nothing else. Code and trie nodes
 * of blocks that were rolled back may remain. Pruning must not be under way.
 */
export function checkStore(modules: CheckModules): StoreReport {
  return new StoreCheck(modules).run();
}

class StoreCheck {
  readonly #modules: CheckModules;
  readonly #faults = new Faults();
  /** What the log has, for comparison with the rows. */
  readonly #counts = {
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
  #previous: { readonly number: number; readonly hash: Hash } | undefined;

  constructor(modules: CheckModules) {
    this.#modules = modules;
  }

  run(): StoreReport {
    const faults = this.#faults;
    const { blocks: servedFrom } = this.#modules.index.pruned;
    const log = this.#modules.log.check((logRecord) => {
      const record = faults.catch("log", undefined, `record at ${logRecord.position}`, () =>
        decodeBlockRecord(logRecord.payload),
      );
      if (record === undefined) return;
      this.#checkHeader(record);
      this.#checkState(record, logRecord);
      if (record.block.header.number >= servedFrom.base) this.#checkServed(record, logRecord);
    });
    for (const { position, reason } of log.faults) {
      faults.add("log", undefined, `position ${position}: ${reason}`);
    }
    this.#checkCounts();
    const indexRows = this.#checkRows();
    const { blocks, transactions } = this.#counts;
    const { count: faultCount, first } = faults;
    return { blocks, transactions, logBytes: log.bytes, indexRows, faultCount, faults: first };
  }

  /** The block follows the one before, and has its header's hash. */
  #checkHeader({ block: { header, hash, transactions } }: BlockRecord): void {
    const faults = this.#faults;
    const { number, parentHash } = header;
    this.#counts.blocks++;
    this.#counts.transactions += transactions.length;
    const parent = this.#previous;
    if (parent !== undefined) {
      faults.unless("log", number, "number follows", () => number === parent.number + 1);
      const isChild = () => parentHash === parent.hash;
      faults.unless("log", number, "parent is the block before", isChild);
    }
    faults.unless("log", number, "hash is the header's", () => headerHash(header) === hash);
    this.#previous = { number, hash };
  }

  /** The index has the state root of the block, and its changes. */
  #checkState({ block }: BlockRecord, logRecord: LogRecord): void {
    const faults = this.#faults;
    const { index } = this.#modules;
    const { number, stateRoot } = block.header;
    const { base } = index.pruned.states;
    if (number >= base) {
      faults.unless("index", number, "state root", () => {
        const first = index.blocks.numberOfState(stateRoot);
        return first !== undefined && first >= base && first <= number;
      });
    }
    if (number > base || base === 0) {
      const rows = decodeChangeRows(logRecord.payload);
      this.#counts.accountVersions += rows.accounts.length;
      this.#counts.slotVersions += rows.slots.length;
      this.#checkChanges(index.accounts, rows.accounts, number, logRecord);
      this.#checkChanges(index.slots, rows.slots, number, logRecord);
      for (const { hash: codeHash, code } of rows.codes) {
        const name = bytesToHex(codeHash) as Hash;
        faults.unless("index", number, `code ${name}`, () => isSame(index.code(name), code));
      }
    }
    if (index.merge.checkpoint() === number + 1) {
      const root = hashToBytes(stateRoot);
      const walk = () => walkStateTrie(index.trieNodes, root);
      faults.catch("index", number, "trie of the checkpoint", walk);
    }
  }

  /** Every change of a block is found under its key at that block, with its value. */
  #checkChanges(table: VersionedTable, changes: readonly ChangeRow[], number: number, record: LogRecord): void {
    for (const { key, value, offset } of changes) {
      this.#faults.unless("index", number, `change of ${bytesToHex(key)}`, () => {
        const position = LogReader.payloadPosition(record.position, offset);
        return table.versionAt(key, number)?.position === position && isSame(table.at(key, number), value);
      });
    }
  }

  /** The index finds the block, its transactions, its logs and its addresses. */
  #checkServed(record: BlockRecord, { position }: LogRecord): void {
    const faults = this.#faults;
    const counts = this.#counts;
    const { index, addresses } = this.#modules;
    const { header, hash, transactions } = record.block;
    const { number } = header;
    counts.servedBlocks++;
    counts.servedTransactions += transactions.length;
    faults.unless("index", number, "position", () => index.blocks.position(number) === position);
    faults.unless("index", number, "block hash", () => index.blocks.numberOf(hash) === number);
    for (const [i, tx] of transactions.entries()) {
      faults.unless("index", number, `transaction ${tx.hash}`, () => {
        const found = index.blocks.transaction(tx.hash);
        return found?.number === number && found.index === i;
      });
    }
    const logs = encodeBlockLogs(record);
    const storedLogs = () => index.logs.storedLogs(number)?.bytes;
    faults.unless("index", number, "logs", () => isSame(storedLogs(), logs));
    if (logs !== undefined) {
      counts.logBlocks++;
      faults.unless("index", number, "terms of logs", () => {
        const { isWhole, postings } = index.logs.holdsEveryTermOf(new BlockLogs(number, logs));
        counts.logPostings += postings;
        return isWhole;
      });
    }
    if (number > addresses.indexedBlocks) return;
    faults.unless("index", number, "addresses", () => {
      const { isWhole, rows } = addresses.storedRowsOf(record);
      counts.addressRows += rows;
      // A large block is indexed in several steps.
      return isWhole || number === addresses.indexedBlocks;
    });
  }

  /** The index has as much as the blocks, and no more. */
  #checkCounts(): void {
    const { index } = this.#modules;
    const counts = this.#counts;
    const last = this.#previous?.hash;
    for (const [what, isRight] of [
      ["last block", () => index.applied()?.hash === last],
      ["account versions", () => index.accounts.versionCount() === counts.accountVersions],
      ["slot versions", () => index.slots.versionCount() === counts.slotVersions],
      ["blocks with logs", () => index.logs.blockCount() === counts.logBlocks],
      ["terms of all logs", () => index.logs.postingCount() === counts.logPostings],
    ] as const) {
      this.#faults.unless("index", undefined, what, isRight);
    }
  }

  /** Every row is undamaged and, as far as the row itself shows, correct. @returns their number */
  #checkRows(): number {
    const { index } = this.#modules;
    const head = this.#previous?.number ?? -1;
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
    for (const [key, value] of this.#rowsPastDamage()) {
      const table = key[0]!;
      rows++;
      byTable.set(table, (byTable.get(table) ?? 0) + 1);
      const test = tests[table];
      this.#faults.unless("index", undefined, `row ${bytesToHex(key)}`, () =>
        test === undefined ? known.has(table) : test(key.subarray(1), value),
      );
    }
    const { servedBlocks, servedTransactions, addressRows } = this.#counts;
    for (const [table, count] of [
      ["position", servedBlocks],
      ["blockByHash", servedBlocks],
      ["transaction", servedTransactions],
      ["addressTransaction", addressRows],
    ] as const) {
      const found = byTable.get(TABLE[table]) ?? 0;
      const what = `${found} rows in table ${table}`;
      this.#faults.unless("index", undefined, what, () => found === count);
    }
    return rows;
  }

  /** All rows; a damaged one is a fault, and the scan goes on after it. */
  *#rowsPastDamage(): Generator<KvRow> {
    let from: Uint8Array | undefined = new Uint8Array(1);
    while (from !== undefined) {
      const rows: Iterable<KvRow> = this.#modules.kv.range({ from });
      from = undefined;
      try {
        yield* rows;
      } catch (error) {
        this.#faults.add("index", undefined, (error as Error).message);
        if (error instanceof KvCorruptionError) from = Buffer.from(`${error.details.key}00`, "hex");
      }
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
  catch<T>(kind: StoreFault["kind"], number: number | undefined, what: string, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.add(kind, number, `${what}: ${(error as Error).message}`);
      return undefined;
    }
  }

  unless(kind: StoreFault["kind"], number: number | undefined, what: string, test: () => boolean): void {
    if (this.catch(kind, number, what, test) === false) this.add(kind, number, what);
  }
}
