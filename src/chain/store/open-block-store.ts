import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { NodeError } from "../../errors.ts";
import { openLmdbKv } from "../../storage/lmdb-kv.ts";
import { bootId, type FileLock, lockFile } from "../../storage/lock.ts";
import { openLogDirectory, syncDirectory } from "../../storage/log-file.ts";
import { createMemoryKv } from "../../storage/memory-kv.ts";
import { createMemoryLogDirectory } from "../../storage/memory-log-directory.ts";
import { readApplied } from "./block-index.ts";
import {
  type LogBlockStore,
  type LogBlockStoreOptions,
  openLogBlockStore,
} from "./log-block-store.ts";
import { LOG_FOLDER, type LogMigration, migrateLog } from "./migrate-log.ts";

type StoreOptions = Omit<LogBlockStoreOptions, "log" | "index" | "onClosed">;

export type DiskBlockStoreOptions = StoreOptions & {
  /** Holds `log/`, `index/`, `index.state` and `lock`; made when missing. */
  readonly directory: string;
  /** Throws the index away and makes it anew from the log. */
  readonly reindex?: boolean;
  /** Called while a log of an older format is rewritten. */
  readonly onMigration?: LogMigration["onProgress"];
};

const STATE_FILE = "index.state";
/** What it says after the index was closed with everything synced. */
const CLEAN = "clean";
/** And until LMDB has opened it. */
const OPENING = "opening";

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
  const { directory, reindex = false } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = lockFile(join(directory, "lock"));
  try {
    const { onMigration, failPoint } = options;
    const isMigrated = migrateLog(directory, {
      ...(onMigration && { onProgress: onMigration }),
      ...(failPoint && { failPoint }),
    });
    if (reindex || isMigrated || !isIndexWhole(directory)) removeIndex(directory);
    try {
      return openWithLock(options, lock);
    } catch (error) {
      if (!(error instanceof NodeError) || !REPAIRED_BY_REINDEX.has(error.code)) throw error;
      removeIndex(directory);
      return openWithLock(options, lock);
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

function openWithLock(options: DiskBlockStoreOptions, lock: FileLock): LogBlockStore {
  const { directory } = options;
  // LMDB can take the whole process with it when its file is damaged. Dying here again and again
  // is avoided by this state, which the next start takes for a damaged index.
  writeState(directory, OPENING);
  const index = openLmdbKv(join(directory, "index"));
  try {
    readApplied(index);
    writeState(directory, `open ${bootId() ?? ""}`);
    return openLogBlockStore({
      freeBytes() {
        const { bavail, bsize } = statfsSync(directory);
        return bavail * bsize;
      },
      ...options,
      log: openLogDirectory(join(directory, LOG_FOLDER)),
      index,
      onClosed() {
        writeState(directory, CLEAN);
        lock.release();
      },
    });
  } catch (error) {
    index.close();
    throw error;
  }
}

/**
 * The index is not synced as it is written. What a killed process wrote is still in the system's
 * cache, but when the system itself went down, any of its pages may be old: since it was opened the
 * machine must not have been started anew. Where starts have no name, a kill counts as a power cut.
 */
function isIndexWhole(directory: string): boolean {
  const boot = bootId();
  let state: string;
  try {
    state = readFileSync(join(directory, STATE_FILE), "latin1");
  } catch {
    return false;
  }
  return state === CLEAN || (boot !== undefined && state === `open ${boot}`);
}

/** Durable before it returns: an index must not be written to while this still says clean. */
function writeState(directory: string, state: string): void {
  const path = join(directory, STATE_FILE);
  const file = openSync(`${path}.new`, "w", 0o600);
  try {
    writeSync(file, state);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
  syncDirectory(directory);
}

function removeIndex(directory: string): void {
  rmSync(join(directory, "index"), { recursive: true, force: true });
}
