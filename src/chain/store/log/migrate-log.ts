import { existsSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { type BlockLog, logFormat, openBlockLog } from "../../../storage/block-log.ts";
import { openLogDirectory } from "../../../storage/log-file.ts";
import { LOG_FORMAT } from "../../../storage/schema.ts";
import { upgradeRecordV1 } from "../../records/block-record-v1.ts";
import { IndexFiles } from "../index/index-files.ts";
import { DiskFullError } from "../store-errors.ts";
import { finishReplacement, LOG_FOLDER, replaceLog } from "./replace-log.ts";

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

function rewrite(
  old: BlockLog,
  folder: string,
  { onProgress = () => {}, failPoint = () => {} }: LogMigration,
): void {
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
