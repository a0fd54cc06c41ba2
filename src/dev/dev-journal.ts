import { readChanges, writeChanges } from "../chain/records/changes-record.ts";
import type { Hash } from "../primitives/hash.ts";
import type { StateChanges } from "../state/reader.ts";
import { openBlockLog } from "../storage/block-log.ts";
import { ByteReader, ByteWriter } from "../storage/byte-io.ts";
import type { LogDirectory } from "../storage/log-file.ts";
import { type DevSettings, decodeSettings, encodeSettings } from "./dev-settings.ts";

/** What a caller did to the chain besides sending transactions. */
export type DevRecord =
  | { readonly kind: "settings"; readonly settings: DevSettings }
  /** State set by hand after block `number`, on top of what was set before. */
  | {
      readonly kind: "patch";
      readonly number: number;
      readonly hash: Hash;
      readonly changes: StateChanges;
    }
  | SnapshotRecord
  /** The chain is at snapshot `id` again; it and all after it are used up. */
  | { readonly kind: "reverted"; readonly id: number }
  /** The chain is at its genesis again and nothing is set. */
  | { readonly kind: "reset" };

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
  /** Oldest first. */
  records(): Iterable<DevRecord>;
  close(): void;
};

/** Of a chain that ends with its process: nothing is read again. */
export const NO_DEV_JOURNAL: DevJournal = { append() {}, records: () => [], close() {} };

/** @throws LogCorruptionError, UnknownFormatError */
export function openDevJournal(directory: LogDirectory): DevJournal {
  const log = openBlockLog({ directory });
  return {
    append: (record) => void log.append(encodeDevRecord(record)),
    *records() {
      for (const { payload } of log.records(0)) yield decodeDevRecord(payload);
    },
    close: () => log.close(),
  };
}

const NONE: StateChanges = { accounts: [], codes: new Map() };

/** length ‖ JSON without the changes ‖ changes as in a block record */
function encodeDevRecord(record: DevRecord): Uint8Array {
  const { changes, ...rest } = { changes: undefined, ...record };
  const writer = new ByteWriter();
  writer.block(Buffer.from(encodeSettings({ ...rest, hasChanges: changes !== undefined })));
  writeChanges(writer, changes ?? NONE, new Set());
  return writer.finish();
}

function decodeDevRecord(payload: Uint8Array): DevRecord {
  const reader = new ByteReader(payload);
  const { hasChanges, ...rest } = decodeSettings(Buffer.from(reader.block()).toString()) as {
    hasChanges: boolean;
  };
  return { ...rest, ...(hasChanges && { changes: readChanges(reader) }) } as DevRecord;
}
