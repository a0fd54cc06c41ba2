import type { Hash } from "../base/primitives/hash.ts";
import { readChanges, writeChanges } from "../chain/records/changes-record.ts";
import type { StateChanges } from "../evm/state/reader.ts";
import { type BlockLog, LogWriteError, openBlockLog } from "../store/storage/block-log.ts";
import { ByteReader, ByteWriter } from "../store/storage/byte-io.ts";
import type { LogDirectory } from "../store/storage/log-file.ts";
import { type DevSettings, decodeSettings, encodeSettings } from "./dev-settings.ts";

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

/** State set by hand after block `number`, on top of what was set before. */
type PatchRecord = {
  readonly kind: "patch";
  readonly number: number;
  readonly hash: Hash;
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
  /** State set by hand after block `number`. */
  readonly changes?: StateChanges;
  /** Of the pool: network form and sender. */
  readonly pool: readonly (readonly [raw: string, sender: string])[];
};

/** The records of one home, each on disk before `append` returns. */
export type DevJournal = {
  /** @throws LogWriteError: it may be tried again; LogPoisonedError */
  append(record: DevRecord): void;
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
  isLarge: false,
  restart() {},
  records: () => [],
  close() {},
};

/** A smaller journal is read in some milliseconds at a start: to begin it anew would gain nothing. */
const RESTART_BYTES_MIN = 4 << 20;

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

  constructor(log: BlockLog, restartBytesMin: number) {
    this.#log = log;
    this.#restartBytesMin = restartBytesMin;
    this.#restartBytes = restartBytesMin;
  }

  get isLarge(): boolean {
    return this.#bytes() > this.#restartBytes;
  }

  append(record: DevRecord): void {
    this.#log.append(encodeDevRecord(record));
  }

  restart(checkpoint: Checkpoint): void {
    try {
      const position = this.#log.beginSegment();
      this.append(checkpoint);
      while (this.#log.dropSegmentBefore(position)) {
        // One file at a time.
      }
    } catch (error) {
      if (!(error instanceof LogWriteError)) throw error;
    }
    this.#restartBytes = Math.max(this.#restartBytesMin, 2 * this.#bytes());
  }

  *records(): Generator<DevRecord> {
    for (const { payload } of this.#log.records(0)) yield decodeDevRecord(payload);
  }

  close(): void {
    this.#log.close();
  }

  #bytes(): number {
    return this.#log.end - this.#log.start;
  }
}

const NONE: StateChanges = { accounts: [], codes: new Map() };

/** length ‖ JSON without the changes ‖ changes as in a block record; of a checkpoint: length ‖ JSON without its records ‖ each of them with its length */
function encodeDevRecord(record: DevRecord): Uint8Array {
  const writer = new ByteWriter();
  if (record.kind === "checkpoint") {
    const { records, ...rest } = record;
    writer.block(Buffer.from(encodeSettings({ ...rest, count: records.length })));
    for (const each of records) writer.block(encodeDevRecord(each));
    return writer.finish();
  }
  const { changes, ...rest } = { changes: undefined, ...record };
  writer.block(Buffer.from(encodeSettings({ ...rest, hasChanges: changes !== undefined })));
  writeChanges(writer, changes ?? NONE, new Set());
  return writer.finish();
}

/** The JSON of a record: what tells how to read the rest, besides its members. */
type StoredText = {
  readonly kind: DevRecord["kind"];
  readonly hasChanges: boolean;
  readonly count: number;
  readonly nextId: number;
};

function decodeDevRecord(payload: Uint8Array): DevRecord {
  const reader = new ByteReader(payload);
  const text = decodeSettings(Buffer.from(reader.block()).toString()) as StoredText;
  if (text.kind === "checkpoint") {
    const records = Array.from({ length: text.count }, () => decodeDevRecord(reader.block()));
    return { kind: "checkpoint", nextId: text.nextId, records: records as Checkpoint["records"] };
  }
  const { hasChanges, ...rest } = text;
  return { ...rest, ...(hasChanges && { changes: readChanges(reader) }) } as DevRecord;
}
