import { existsSync, mkdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { NodeError } from "../../errors.ts";
import { openLmdbKv } from "../../storage/lmdb-kv.ts";
import { type FileLock, lockFile } from "../../storage/lock.ts";
import { openLogDirectory } from "../../storage/log-file.ts";
import { createMemoryKv } from "../../storage/memory-kv.ts";
import { createMemoryLogDirectory } from "../../storage/memory-log-directory.ts";
import { type Logger, SILENT_LOGGER } from "../../telemetry/logger.ts";
import { readApplied } from "./block-index.ts";
import { IndexFiles } from "./index-files.ts";
import {
  type LogBlockStore,
  type LogBlockStoreOptions,
  openLogBlockStore,
} from "./log-block-store.ts";
import { BACKUP_FOLDER, LOG_FOLDER, migrateLog } from "./migrate-log.ts";

type StoreOptions = Omit<LogBlockStoreOptions, "log" | "index" | "onClosed">;

export type DiskBlockStoreOptions = StoreOptions & {
  /** Holds `log/`, `index/`, `index.state` and `lock`; made when missing. */
  readonly directory: string;
  /** Throws the index away and makes it anew from the log. */
  readonly reindex?: boolean;
  readonly logger?: Logger;
};

/** Faults of an index that are no loss: it is made anew from the log. */
const REPAIRED_BY_REINDEX: ReadonlySet<string> = new Set([
  "STORE_CORRUPT_INDEX",
  "STORE_CORRUPT_ROW",
  "STORE_INDEX_MISMATCH",
  "STORE_MALFORMED_BYTES",
]);

/** A store that lives and dies with the process. */
export function createMemoryBlockStore(options: StoreOptions): LogBlockStore {
  return openLogBlockStore({
    ...options,
    log: createMemoryLogDirectory(),
    index: createMemoryKv(),
  });
}

/**
 * Opens the store in `directory`, made when missing. An index that is missing, damaged, or may have
 * lost writes in a power cut is made anew from the log.
 *
 * @throws LockedError, LogCorruptionError, UnknownFormatError
 */
export function openDiskBlockStore(options: DiskBlockStoreOptions): LogBlockStore {
  const { directory, reindex = false, logger = SILENT_LOGGER, failPoint } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = lockFile(join(directory, "lock"));
  const files = new IndexFiles(directory);
  const rebuild = (reason: string) => {
    if (existsSync(files.folder)) logger.warn("index is made anew from the block log", { reason });
    files.remove();
  };
  try {
    const isMigrated = migrateLog(directory, {
      onProgress: ({ done, total }) =>
        logger.info("block log is rewritten in a new format", { done, total }),
      ...(failPoint && { failPoint }),
    });
    if (isMigrated) {
      logger.info("block log was rewritten in a new format", { backup: BACKUP_FOLDER });
    }
    const fault = reindex
      ? "asked for"
      : isMigrated
        ? "the block log was rewritten"
        : files.findFault(({ done, total }) => logger.info("index is checked", { done, total }));
    if (fault !== undefined) rebuild(fault);
    try {
      return openWithLock(options, files, lock);
    } catch (error) {
      if (!(error instanceof NodeError) || !REPAIRED_BY_REINDEX.has(error.code)) throw error;
      rebuild(error.message);
      return openWithLock(options, files, lock);
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

function openWithLock(
  options: DiskBlockStoreOptions,
  files: IndexFiles,
  lock: FileLock,
): LogBlockStore {
  const { directory, logger = SILENT_LOGGER } = options;
  let isDamaged = false;
  const onDamage = (error: Error) => {
    if (isDamaged) return;
    isDamaged = true;
    logger.error("index is damaged: the next start makes it anew from the block log", { error });
    files.damaged();
  };
  files.beginOpening();
  const index = openLmdbKv(files.folder, onDamage);
  try {
    readApplied(index);
    files.opened();
    return openLogBlockStore({
      freeBytes() {
        const { bavail, bsize } = statfsSync(directory);
        return bavail * bsize;
      },
      onReplay: ({ done, total }) =>
        logger.info("index is brought forward from the block log", { done, total }),
      ...options,
      log: openLogDirectory(join(directory, LOG_FOLDER)),
      index,
      onClosed() {
        if (!isDamaged) files.closed();
        lock.release();
      },
    });
  } catch (error) {
    index.close();
    throw error;
  }
}
