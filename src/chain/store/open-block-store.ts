import { existsSync } from "node:fs";
import { join } from "node:path";
import { invariant, NodeError } from "../../base/errors.ts";
import { type Logger, SILENT_LOGGER } from "../../base/telemetry/logger.ts";
import { BufferedKv, type BufferLimits } from "../../store/storage/buffered-kv.ts";
import { type Kv, KvDamagedError } from "../../store/storage/kv.ts";
import { BackgroundLmdbCheck } from "../../store/storage/lmdb/background-lmdb-check.ts";
import { NativeStoreMissingError, openLmdbKv } from "../../store/storage/lmdb/lmdb-kv.ts";
import { type FileLock, lockFile } from "../../store/storage/lock.ts";
import { openLogDirectory } from "../../store/storage/log/log-file.ts";
import { createMemoryLogDirectory } from "../../store/storage/log/memory-log-directory.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import { LOG_MERGE_LIMITS } from "../logs/log-index.ts";
import { readApplied } from "./index/block-rows.ts";
import { INDEX_FOLDER, IndexFiles } from "./index/index-files.ts";
import { MERGE_LIMITS, type MergeLimits } from "./index/index-merge.ts";
import { placeIndex } from "./index/index-place.ts";
import { type LogBlockStore, openLogBlockStore } from "./log-block-store.ts";
import { BACKFILL, BACKUP_FOLDER, finishReplacement, LOG_FOLDER, migrateLog } from "./replace-log.ts";
import type { LogBlockStoreOptions } from "./store-options.ts";
import { createFreeSpaceReader, FREE_BYTES_MIN } from "./write-guard.ts";

type StoreOptions = Omit<LogBlockStoreOptions, "log" | "index" | "followableIn" | "onDamage" | "onClosed">;

export type DiskBlockStoreOptions = StoreOptions & {
  /** Holds `log/`, `index/`, `index.state` and `lock`; made when missing. */
  readonly directory: string;
  /** Where the index is to be (index-place.ts); null: in `directory`. It stays where it is if not given. */
  readonly indexFolder?: string | null;
  /** Throws the index away and makes it anew from the log. */
  readonly reindex?: boolean;
  readonly logger?: Logger;
  /** Limits of the rows held in memory; BUFFER_LIMITS if not given. */
  readonly bufferLimits?: BufferLimits;
  /** openLmdbKv if not given. */
  readonly openIndex?: typeof openLmdbKv;
  /**
   * A larger index that was closed is opened before its check, and takes no block until that has ended in the background (`LogBlockStore.isUnchecked`).
   * An index of any size is checked before it is opened if not given.
   */
  readonly checkedFirstBytesMax?: number;
  /** Called when that check found damage: what is read may be wrong, and no block is added any more. The next start repairs it. */
  readonly onIndexFault?: (error: Error) => void;
};

/** Faults of an index that are no loss: it is made anew from the log. */
const REPAIRED_BY_REINDEX: ReadonlySet<string> = new Set([
  "STORE_CORRUPT_INDEX",
  "STORE_CORRUPT_ROW",
  "STORE_MISSING_ROW",
  "STORE_INDEX_MISMATCH",
  "STORE_MALFORMED_BYTES",
]);

/**
 * Merges by what waits, not by the number of blocks: no start has to read those of a store in memory again, and blocks that no merge
 * has written are undone in a fraction of the time.
 */
const IN_MEMORY_LIMITS: MergeLimits = {
  ...MERGE_LIMITS,
  blocksMin: Infinity,
  logs: { ...LOG_MERGE_LIMITS, blocksMin: Infinity },
};

/**
 * Blocks before a merge can no longer be undone cheaply. With this limit a thousand blocks of one transaction each can be undone, unless a
 * merge falls between them. A start after a kill recomputes the tries of unmerged blocks: 0.9 s of CPU for this many.
 */
const UNDO_LIMITS: MergeLimits = {
  ...MERGE_LIMITS,
  blocksMin: 1_500,
  logs: { ...LOG_MERGE_LIMITS, blocksMin: 1_500 },
};

/** A store that lives and dies with the process. */
export function createMemoryBlockStore(options: StoreOptions): LogBlockStore {
  return openLogBlockStore({
    mergeLimits: IN_MEMORY_LIMITS,
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
  makeFolder(directory);
  const lock = lockFile(join(directory, "lock"));
  const files = new IndexFiles(directory, options.checkedFirstBytesMax);
  const rebuild = (reason: string) => {
    if (existsSync(files.folder)) logger.warn("rebuilding the index from the block log", { reason });
    files.remove();
    writesOnFullDisk(() => files.beginRebuilding());
  };
  try {
    placeIndex(directory, options.indexFolder, logger);
    finishReplacement(directory, BACKFILL);
    const isMigrated = migrateLog(directory, {
      onProgress: ({ done, total }) => logger.info("rewriting the block log in a new format", { done, total }),
      ...(failPoint && { failPoint }),
    });
    if (isMigrated) {
      logger.info("rewrote the block log in a new format", { backup: BACKUP_FOLDER });
    }
    // A rebuild that was interrupted goes on where it was.
    const fault =
      reindex && !files.isRebuilding()
        ? "asked for"
        : files.findFault(({ done, total }) => logger.info("checking the index", { done, total }));
    if (fault !== undefined) rebuild(fault);
    if (fault !== undefined && diskOptions(options).freeBytes() < FREE_BYTES_MIN) {
      logger.warn("the disk is full: keeping the index in memory until a restart", { reason: fault });
      return openInMemory(options, lock);
    }
    try {
      return openWithLock(options, files, lock);
    } catch (error) {
      if (error instanceof NativeStoreMissingError) {
        logger.warn("keeping the index in memory; every start rebuilds it from the block log", {
          error,
        });
        return openInMemory(options, lock);
      }
      if (!(error instanceof NodeError) || !REPAIRED_BY_REINDEX.has(error.code)) throw error;
      files.noteDamage();
      rebuild(error.message);
      return openWithLock(options, files, lock);
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Without LMDB: slower to start the longer the chain is, and as safe, because the log is the truth. */
function openInMemory(options: DiskBlockStoreOptions, lock: FileLock): LogBlockStore {
  return openLogBlockStore({
    ...diskOptions(options),
    index: createMemoryKv(),
    onClosed: () => lock.release(),
  });
}

function diskOptions(options: DiskBlockStoreOptions) {
  const { directory, logger = SILENT_LOGGER } = options;
  return {
    freeBytes: leastFreeSpace(directory, join(directory, INDEX_FOLDER)),
    onReplay: ({ done, total }: { readonly done: number; readonly total: number }) =>
      logger.info("updating the index from the block log", { done, total }),
    onPruningFailure: (error: unknown) => logger.error("could not remove old blocks", { error }),
    ...options,
    log: openLogDirectory(join(directory, LOG_FOLDER)),
  };
}

/** Free bytes of the log's disk or the index's disk, whichever has fewer. */
function leastFreeSpace(directory: string, index: string): () => number {
  return createFreeSpaceReader(existsSync(index) ? [directory, index] : [directory]);
}

function openWithLock(options: DiskBlockStoreOptions, files: IndexFiles, lock: FileLock): LogBlockStore {
  const { logger = SILENT_LOGGER, openIndex = openLmdbKv } = options;
  let isDamaged = false;
  // The next start looks at every page before it opens it.
  let isSuspect = false;
  const onDamage = (error: Error) => {
    if (isDamaged) return;
    isDamaged = true;
    logger.error("the index is damaged: the next start rebuilds it from the block log", { error });
    files.damaged();
  };
  const isWritable = writesOnFullDisk(() => files.beginOpening());
  if (!isWritable) logger.warn("the disk is full: the node serves blocks, but adds none until a restart");
  // A writable map can abort the process where rows are removed.
  const writableMap = options.retention === undefined;
  const stored = openIndex(files.folder, onDamage, { writableMap });
  // Pruning writes between blocks all the time, so that nothing would wait for long.
  const index = options.retention === undefined ? new BufferedKv(stored, options.bufferLimits) : stored;
  let check: BackgroundLmdbCheck | undefined;
  try {
    readApplied(index);
    if (isWritable) files.opened();
    if (files.isUnchecked) check = beginCheck(files, stored);
    const store = openLogBlockStore({
      ...(options.retention === undefined && { mergeLimits: UNDO_LIMITS }),
      ...diskOptions(options),
      ...(!isWritable && { freeBytes: () => 0 }),
      index,
      ...(openIndex === openLmdbKv && { followableIn: options.directory }),
      onDamage,
      onClosed() {
        check?.stop();
        if (!isDamaged && !isSuspect && isWritable) writesOnFullDisk(() => files.closed());
        lock.release();
      },
    });
    if (isWritable) writesOnFullDisk(() => files.rebuilt());
    if (check !== undefined) {
      store.holdUntilChecked();
      logger.info("checking the index in the background: no blocks are made until the check ends");
    } else {
      warnOfSuspects(files, store, logger);
      writesOnFullDisk(() => files.checked(store.head()));
    }
    const begin = performance.now();
    const onFault = (error: Error) => {
      isSuspect = true;
      store.giveUp(error);
      options.onIndexFault?.(error);
    };
    check?.start({
      onEnded(fault) {
        if (fault === undefined) {
          logger.info("checked the index", { ms: Math.round(performance.now() - begin) });
          writesOnFullDisk(() => files.checked(store.head()));
          store.checked();
          return;
        }
        const error = new KvDamagedError(`index file is damaged: ${fault}`);
        logger.error("the index is damaged: the next start checks it, and rebuilds it from the block log", { error });
        onFault(error);
      },
      onFailed(error) {
        logger.error("could not check the index: the next start checks it before opening it", { error });
        onFault(error);
      },
    });
    return store;
  } catch (error) {
    check?.stop();
    index.close();
    throw error;
  }
}

/** Blocks that were made since the index was last whole keep what they read of it: the rebuild takes their changes from the log. */
function warnOfSuspects({ suspectFrom }: IndexFiles, store: LogBlockStore, logger: Logger): void {
  if (suspectFrom === undefined || suspectFrom > (store.head() ?? 0)) return;
  logger.warn(
    "the index was damaged: blocks made since its last check may be wrong; verify them with evmintd db check --from",
    {
      from: suspectFrom,
    },
  );
}

/** The check of an index that was opened unseen. @throws KvDamagedError */
function beginCheck(files: IndexFiles, kv: Kv): BackgroundLmdbCheck {
  const pinned = kv.pinPages?.();
  invariant(pinned !== undefined, "a store that is opened before its check must pin its pages");
  return new BackgroundLmdbCheck(files.dataFile, pinned);
}

/** False when the disk had no space for what `write` wrote. */
function writesOnFullDisk(write: () => void): boolean {
  try {
    write();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    return false;
  }
}
