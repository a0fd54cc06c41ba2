import { ADDRESS_LENGTH, addressFromBytes } from "../base/primitives/address.ts";
import { type Hash, hashFromBytes } from "../base/primitives/hash.ts";
import { readChanges, writeChanges } from "../chain/records/changes-record.ts";
import type { StateChanges } from "../evm/state/reader.ts";
import { ByteReader, ByteWriter, MalformedBytesError } from "../store/storage/byte-io.ts";
import { type BlockLog, LogWriteError, openBlockLog } from "../store/storage/log/block-log.ts";
import type { LogDirectory } from "../store/storage/log/log-file.ts";
import { type DevSettings, decodeSettings, encodeSettings } from "./dev-settings.ts";
import { type HeldTransaction, type PoolChanges, type StoredTransaction, storedForm } from "./pool-history.ts";

/** What a caller did to the chain besides sending transactions. */
export type DevRecord =
  | SettingsRecord
  | PatchRecord
  | SnapshotRecord
  /** The chain is at snapshot `id` again; it and all after it are used up. */
  | { readonly kind: "reverted"; readonly id: number }
  /** The chain is at its genesis again and nothing is set. */
  | { readonly kind: "reset" }
  | Checkpoint;

type SettingsRecord = { readonly kind: "settings"; readonly settings: DevSettings };

/** State set by hand after block `number`, on top of earlier edits unless it is `first`. */
type PatchRecord = {
  readonly kind: "patch";
  readonly number: number;
  readonly hash: Hash;
  readonly first: boolean;
  readonly changes: StateChanges;
};

/** What all records before it come to. */
export type Checkpoint = {
  readonly kind: "checkpoint";
  /** Of the next snapshot. */
  readonly nextId: number;
  readonly records: readonly (SettingsRecord | PatchRecord | SnapshotRecord)[];
};

export type SnapshotRecord = {
  readonly kind: "snapshot";
  readonly id: number;
  readonly number: number;
  readonly hash: Hash;
  readonly settings: DevSettings;
  /** State was set by hand after block `number`: the records before this one have it. */
  readonly isPatched: boolean;
  readonly pool: PoolChanges;
};

/** The records of one home, each on disk before `append` returns. */
export type DevJournal = {
  /** @throws LogWriteError: it may be tried again; LogPoisonedError */
  append(record: DevRecord): void;
  /** Stores most of a snapshot with these transactions in pieces, so that other calls can run in between. @throws as `append` */
  storeAhead(transactions: Iterable<HeldTransaction>): Iterable<void>;
  /** Most of the journal is of the past, so that it should begin anew. */
  readonly isLarge: boolean;
  /** Begins anew with `checkpoint`. Where that cannot be written, the journal goes on as it is. @throws LogPoisonedError */
  restart(checkpoint: Checkpoint): void;
  /** Oldest first. */
  records(): Iterable<DevRecord>;
  close(): void;
};

/** Of a chain that ends with its process: nothing is read again. */
export const NO_DEV_JOURNAL: DevJournal = {
  append() {},
  storeAhead: () => [],
  isLarge: false,
  restart() {},
  records: () => [],
  close() {},
};

/** A smaller journal is read in some milliseconds at a start: to begin it anew would gain nothing. */
const RESTART_BYTES_MIN = 4 << 20;
/** Of transactions that are encoded in one piece: a millisecond. */
const PIECE_BYTES = 1 << 20;

/**
 * @param restartBytesMin from how many bytes on the journal can be large
 * @throws LogCorruptionError, UnknownFormatError
 */
export function openDevJournal(directory: LogDirectory, restartBytesMin = RESTART_BYTES_MIN): DevJournal {
  return new StoredDevJournal(openBlockLog({ directory }), restartBytesMin);
}

class StoredDevJournal implements DevJournal {
  readonly #log: BlockLog;
  readonly #restartBytesMin: number;
  /** As often as it doubles: all that is written stays within three times what callers gave. */
  #restartBytes: number;
  /** Transactions that the records have. */
  #stored = new Set<Hash>();

  constructor(log: BlockLog, restartBytesMin: number) {
    this.#log = log;
    this.#restartBytesMin = restartBytesMin;
    this.#restartBytes = restartBytesMin;
  }

  get isLarge(): boolean {
    return this.#bytes() > this.#restartBytes;
  }

  append(record: DevRecord): void {
    const encoder = new RecordEncoder(this.#stored);
    this.#log.append(encoder.encode(record));
    for (const hash of encoder.written) this.#stored.add(hash);
  }

  *storeAhead(transactions: Iterable<HeldTransaction>): Generator<void> {
    let piece: StoredTransaction[] = [];
    let bytes = 0;
    for (const transaction of transactions) {
      if (this.#stored.has(hashOf(transaction))) continue;
      const stored = storedForm(transaction);
      piece.push(stored);
      bytes += stored.raw.length;
      if (bytes < PIECE_BYTES) continue;
      const writer = beginRecord({ kind: "transactions" });
      writeTransactions(writer, piece);
      this.#log.append(writer.finish());
      for (const { hash } of piece) this.#stored.add(hash);
      piece = [];
      bytes = 0;
      yield;
    }
  }

  restart(checkpoint: Checkpoint): void {
    try {
      const position = this.#log.beginSegment();
      const encoder = new RecordEncoder(new Set());
      this.#log.append(encoder.encode(checkpoint));
      this.#stored = encoder.written;
      while (this.#log.dropSegmentBefore(position)) {
        // One file at a time.
      }
    } catch (error) {
      if (!(error instanceof LogWriteError)) throw error;
    }
    this.#restartBytes = Math.max(this.#restartBytesMin, 2 * this.#bytes());
  }

  *records(): Generator<DevRecord> {
    const transactions = new Map<Hash, StoredTransaction>();
    for (const { payload } of this.#log.records(0)) {
      const record = decodeDevRecord(payload, transactions);
      if (record !== undefined) yield record;
    }
    this.#stored = new Set(transactions.keys());
  }

  close(): void {
    this.#log.close();
  }

  #bytes(): number {
    return this.#log.end - this.#log.start;
  }
}

function hashOf(transaction: HeldTransaction): Hash {
  return "tx" in transaction ? transaction.tx.hash : transaction.hash;
}

/*
 * A record is length ‖ JSON, and then of a
 *
 *   patch          its changes as in a block record
 *   snapshot       transactions that no record before it has ‖ hashes of those added to the pool ‖ hashes of those removed
 *   transactions   transactions for snapshots after it
 *   checkpoint     each of its records with its length
 *
 *   transactions   count ‖ (hash 32 ‖ sender 20 ‖ length ‖ network form)*
 *   hashes         count ‖ hash*
 */

function beginRecord(text: object): ByteWriter {
  const writer = new ByteWriter();
  writer.block(Buffer.from(encodeSettings(text)));
  return writer;
}

class RecordEncoder {
  readonly #stored: ReadonlySet<Hash>;
  /** Transactions of the encoded records. */
  readonly written = new Set<Hash>();

  /** @param stored transactions that need not be written */
  constructor(stored: ReadonlySet<Hash>) {
    this.#stored = stored;
  }

  encode(record: DevRecord): Uint8Array {
    switch (record.kind) {
      case "checkpoint": {
        const { records, ...rest } = record;
        const writer = beginRecord({ ...rest, count: records.length });
        for (const each of records) writer.block(this.encode(each));
        return writer.finish();
      }
      case "patch": {
        const { changes, ...rest } = record;
        const writer = beginRecord(rest);
        writeChanges(writer, changes, new Set());
        return writer.finish();
      }
      case "snapshot": {
        const { pool, ...rest } = record;
        const writer = beginRecord({ ...rest, format: SNAPSHOT_FORMAT });
        writeTransactions(writer, [...pool.added.values()].filter(this.#isNew).map(storedForm));
        for (const hash of pool.added.keys()) this.written.add(hash);
        writeHashes(writer, pool.added);
        writeHashes(writer, pool.removed);
        return writer.finish();
      }
      default:
        return beginRecord(record).finish();
    }
  }

  readonly #isNew = (transaction: HeldTransaction): boolean => {
    const hash = hashOf(transaction);
    return !this.#stored.has(hash) && !this.written.has(hash);
  };
}

/** Snapshots of earlier builds have no format, and their whole pool in JSON. */
const SNAPSHOT_FORMAT = 1;
const HASH_LENGTH = 32;

function writeTransactions(writer: ByteWriter, transactions: readonly StoredTransaction[]): void {
  writer.varint(transactions.length);
  for (const { hash, sender, raw } of transactions) {
    writer.hex(hash);
    writer.hex(sender);
    writer.block(raw);
  }
}

function writeHashes(writer: ByteWriter, hashes: ReadonlyMap<Hash, unknown>): void {
  writer.varint(hashes.size);
  for (const hash of hashes.keys()) writer.hex(hash);
}

function readTransactions(reader: ByteReader, transactions: Map<Hash, StoredTransaction>): void {
  for (let left = reader.varint(); left > 0; left--) {
    const hash = hashFromBytes(reader.bytes(HASH_LENGTH));
    const sender = addressFromBytes(reader.bytes(ADDRESS_LENGTH));
    // A copy: a view would hold the whole record in memory.
    transactions.set(hash, { hash, sender, raw: Uint8Array.from(reader.block()) });
  }
}

function readHeld(
  reader: ByteReader,
  transactions: ReadonlyMap<Hash, StoredTransaction>,
): Map<Hash, StoredTransaction> {
  const held = new Map<Hash, StoredTransaction>();
  for (let left = reader.varint(); left > 0; left--) {
    const hash = hashFromBytes(reader.bytes(HASH_LENGTH));
    const transaction = transactions.get(hash);
    if (transaction === undefined) throw new MalformedBytesError("a snapshot has a transaction that no record has");
    held.set(hash, transaction);
  }
  return held;
}

/** The JSON of a record: what tells how to read the rest, besides its members. */
type StoredText = {
  readonly kind: DevRecord["kind"] | "transactions";
  readonly count: number;
  readonly nextId: number;
  readonly id: number;
  readonly format?: number;
  /** Of patches of earlier builds. */
  readonly hasChanges?: boolean;
};

/** @param transactions of earlier records; this record's are added @returns undefined for a record with only transactions */
function decodeDevRecord(payload: Uint8Array, transactions: Map<Hash, StoredTransaction>): DevRecord | undefined {
  const reader = new ByteReader(payload);
  const { hasChanges, ...text } = decodeSettings(Buffer.from(reader.block()).toString()) as StoredText;
  switch (text.kind) {
    case "transactions":
      readTransactions(reader, transactions);
      return undefined;
    case "checkpoint": {
      const records = Array.from({ length: text.count }, () => decodeDevRecord(reader.block(), transactions));
      return { kind: "checkpoint", nextId: text.nextId, records: records as Checkpoint["records"] };
    }
    case "patch":
      return { first: false, ...text, changes: readChanges(reader) } as unknown as PatchRecord;
    case "snapshot": {
      // Used up: the number is not given out again.
      const { format, ...rest } = text;
      if (format !== SNAPSHOT_FORMAT) return { kind: "reverted", id: text.id };
      readTransactions(reader, transactions);
      const pool = { added: readHeld(reader, transactions), removed: readHeld(reader, transactions) };
      return { ...rest, pool } as unknown as SnapshotRecord;
    }
    default:
      return text as unknown as DevRecord;
  }
}
