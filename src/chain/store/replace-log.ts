import { existsSync, renameSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Block } from "../../base/types/block.ts";
import { decodeTransaction } from "../../base/types/transaction/decode.ts";
import { ByteReader, ByteWriter } from "../../store/storage/byte-io.ts";
import { lockFile } from "../../store/storage/lock.ts";
import { type BlockLog, logFormat, openBlockLog } from "../../store/storage/log/block-log.ts";
import { openLogDirectory } from "../../store/storage/log/log-file.ts";
import { syncDirectory } from "../../store/storage/make-folder.ts";
import { LOG_FORMAT } from "../../store/storage/schema.ts";
import { readWithdrawals, times, writeBlock } from "../records/block-record.ts";
import { readHeader } from "../records/header-record.ts";
import { readReceipt } from "../records/receipt-record.ts";
import { DiskFullError } from "../store-errors.ts";
import { IndexFiles } from "./index/index-files.ts";

/** The block log of a data directory, or its place until the last step of a replacement. */
export const LOG_FOLDER = "log";

/** Folders of a data directory, relative to it. */
export type LogReplacement = {
  /** The complete log that becomes `LOG_FOLDER`. */
  readonly source: string;
  /** What the old log is renamed to; its presence without `LOG_FOLDER` says that a replacement was interrupted. */
  readonly backup: string;
};

/**
 * Puts the log in `source` in the place of the old one, which becomes the backup. The index is then worthless.
 * @param failPoint called by name between the renames, for tests that die there
 */
function replaceLog(
  directory: string,
  { source, backup }: LogReplacement,
  failPoint: (name: string) => void = () => {},
): void {
  renameSync(join(directory, LOG_FOLDER), join(directory, backup));
  syncDirectory(directory);
  failPoint("replace:backup");
  renameSync(join(directory, source), join(directory, LOG_FOLDER));
  syncDirectory(directory);
}

/** Does the second rename where the last process died before it; true when it did. */
export function finishReplacement(directory: string, { source, backup }: LogReplacement): boolean {
  const [log, next] = [join(directory, LOG_FOLDER), join(directory, source)];
  if (existsSync(log) || !existsSync(next) || !existsSync(join(directory, backup))) return false;
  renameSync(next, log);
  syncDirectory(directory);
  return true;
}

/** Is written first; complete once `LOG_FOLDER` has become a backup. */
const NEW_FOLDER = "log.new";
/** What a migrated log is renamed to. It may be removed by hand once the new one has proven itself. */
export const BACKUP_FOLDER = "log.v1.backup";
const REPLACEMENT = { source: NEW_FOLDER, backup: BACKUP_FOLDER };

/** Of the old log's size, what the new one may need: offsets and checksums of small records. */
const GROWTH = 1.5;
const PROGRESS_BYTES = 8 << 20;

export type LogMigration = {
  /** Called once in 8 MiB with bytes of the old log. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  /** Called by name before each step, for tests that die there. */
  readonly failPoint?: (name: string) => void;
};

/**
 * Rewrites a log of format 1 in `directory` beside itself, removes the index, then puts the new log in
 * place of the old one, which becomes `log.v1.backup`. A process that dies at any step leaves a directory
 * for which the next call does the rest. True when a log was rewritten.
 *
 * @throws DiskFullError before anything is written; LogCorruptionError, UnknownFormatError
 */
export function migrateLog(directory: string, options: LogMigration = {}): boolean {
  const { failPoint = () => {} } = options;
  const log = join(directory, LOG_FOLDER);
  const next = join(directory, NEW_FOLDER);
  if (finishReplacement(directory, REPLACEMENT)) return true;
  if (!existsSync(log)) return false;
  const format = logFormat(openLogDirectory(log));
  if (format === undefined || format >= LOG_FORMAT) return false;
  rmSync(next, { recursive: true, force: true });
  const old = openBlockLog({ directory: openLogDirectory(log), format: 1 });
  try {
    assertSpace(directory, old.end * GROWTH);
    rewrite(old, next, options);
  } finally {
    old.close();
  }
  failPoint("migrate:written");
  // Of the old log; it must not be opened over the new one.
  const files = new IndexFiles(directory);
  files.remove();
  files.beginRebuilding();
  failPoint("migrate:index");
  replaceLog(directory, REPLACEMENT, failPoint);
  failPoint("migrate:end");
  return true;
}

function rewrite(old: BlockLog, folder: string, { onProgress = () => {}, failPoint = () => {} }: LogMigration): void {
  const log = openBlockLog({ directory: openLogDirectory(folder) });
  try {
    let reported = 0;
    for (const { payload, end } of old.records()) {
      log.appendUnsynced(upgradeRecordV1(payload));
      failPoint("migrate:record");
      if (end - reported < PROGRESS_BYTES) continue;
      onProgress({ done: end, total: old.end });
      reported = end;
    }
    log.sync();
  } finally {
    log.close();
  }
}

function assertSpace(directory: string, neededBytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  const freeBytes = bavail * bsize;
  if (freeBytes < neededBytes) throw new DiskFullError({ freeBytes, neededBytes });
}

/** Folder of the data directory in which a store from block 0 on is made, for a chain that begins at a later base. */
export const BACKFILL_FOLDER = "backfill";

export const BACKFILL: LogReplacement = {
  source: join(BACKFILL_FOLDER, LOG_FOLDER),
  backup: "log.pruned.backup",
};

/**
 * Replaces the log of the closed store in `directory` by that of the closed store in `BACKFILL_FOLDER`, which has all its blocks. The next
 * opening builds the index. A process that dies at any step leaves either the old chain or the new one.
 * @throws LockedError
 */
export function adoptBackfilledLog(directory: string, failPoint: (name: string) => void = () => {}): void {
  const lock = lockFile(join(directory, "lock"));
  try {
    // Of the old log; it must not be opened over the new one.
    const files = new IndexFiles(directory);
    files.remove();
    files.beginRebuilding();
    failPoint("backfill:index");
    replaceLog(directory, BACKFILL, failPoint);
    failPoint("backfill:replaced");
  } finally {
    lock.release();
  }
  removeLeftovers(directory);
}

/** Removes what a finished backfill leaves, also where the process died before it could. */
export function removeLeftovers(directory: string): void {
  if (existsSync(join(directory, BACKFILL.source))) return;
  rmSync(join(directory, BACKFILL_FOLDER), { recursive: true, force: true });
  rmSync(join(directory, BACKFILL.backup), { recursive: true, force: true });
}

/**
 * The record of log format 1 in the current format, for the migration of a log.
 *
 *     record   offset of the changes u32 ‖ block hash 32 ‖ header ‖ uncles ‖ withdrawals
 *              ‖ count ‖ (length ‖ canonical transaction)* ‖ sender* ‖ receipt*
 *              ‖ length ‖ consensus data ‖ changes
 *
 * The changes are the same in both formats and are copied.
 * @throws MalformedBytesError, and what `decodeTransaction` throws
 */
export function upgradeRecordV1(payload: Uint8Array): Uint8Array {
  const reader = new ByteReader(payload);
  const changesOffset = reader.u32();
  const hash = reader.hex(32) as Hash;
  const header = readHeader(reader);
  const uncles = times(reader.varint(), () => readHeader(reader));
  const withdrawals = readWithdrawals(reader);
  const transactions = times(reader.varint(), () => decodeTransaction(reader.block()));
  const senders = transactions.map(() => reader.hex(20) as Address);
  const receipts = transactions.map(({ type }) => readReceipt(reader, type));
  const consensusData = reader.block();
  const block: Block = {
    hash,
    header,
    transactions,
    uncles,
    ...(withdrawals !== undefined && { withdrawals }),
  };
  const writer = new ByteWriter(payload.length + 128 + transactions.length * 16);
  writeBlock(writer, { block, senders, receipts, consensusData });
  writer.bytes(payload.subarray(changesOffset));
  return writer.finish();
}
