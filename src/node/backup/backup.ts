import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NodeError } from "../../base/errors.ts";
import { parseGenesis } from "../../base/params/genesis.ts";
import { genesisBlock } from "../../chain/genesis-block.ts";
import { LOG_FOLDER } from "../../chain/store/replace-log.ts";
import { ifPresent } from "../../store/storage/if-present.ts";
import { lockFile } from "../../store/storage/lock.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import { LOG_FORMAT } from "../../store/storage/schema.ts";
import { dataPath, genesisPath } from "../config/home.ts";
import { packageVersion } from "../config/package.ts";
import { copyHomeFiles, removeUnused, STORED_FILES_FOLDER, storedContent } from "./home-files.ts";
import { copyLog, STORED_LOG_FOLDER } from "./log-copy.ts";
import {
  BACKUP_FORMAT,
  type BlockName,
  MANIFEST_FILE,
  type Manifest,
  readManifest,
  writeManifest,
} from "./manifest.ts";

/** The folder holds the backup of another chain, or other files. */
class ForeignBackupError extends NodeError {
  readonly code = "BACKUP_FOREIGN";
}

export type BackupOptions = {
  readonly home: string;
  /** The backup folder: new, or an earlier backup of this home, which is updated. */
  readonly directory: string;
  readonly hasKeys: boolean;
  /** Called with the bytes of the log read so far, and the total. */
  readonly onProgress: (done: number, total: number) => void;
  /** Called by name before each step, for tests that crash there. */
  readonly failPoint?: (name: string) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
};

export type BackupResult = {
  readonly head: BlockName;
  readonly bytes: number;
  /** Bytes of the log that this run copied. */
  readonly copiedBytes: number;
  readonly hasKeys: boolean;
};

/**
 * Copies the home of a node, running or not, to a folder from which `restoreBackup` makes a home. The previous backup stays complete until the
 * new one is: its files are kept or appended to, and the manifest is replaced atomically at the end.
 * @throws NothingToBackUpError, ForeignBackupError, LogMovedError, BackupDamagedError, LockedError
 */
export async function createBackup(options: BackupOptions): Promise<BackupResult> {
  const { home, directory, hasKeys, onProgress, failPoint = () => {}, now } = options;
  const hadBackup = existsSync(join(directory, MANIFEST_FILE));
  assertOwnFolder(directory);
  makeFolder(directory);
  const lock = lockFile(join(directory, "lock"));
  try {
    const previous = hadBackup ? readManifest(directory) : undefined;
    if (previous !== undefined) assertSameChain(previous, home, directory);
    const source = join(dataPath(home), LOG_FOLDER);
    failPoint("backup:log");
    const { log, states, head, copiedBytes } = await copyLog({ source, directory, previous, onProgress });
    failPoint("backup:files");
    const files = copyHomeFiles(home, directory, { hasKeys });
    const manifest: Manifest = {
      format: BACKUP_FORMAT,
      program: packageVersion(),
      logFormat: LOG_FORMAT,
      createdAt: new Date(now()).toISOString(),
      hasKeys,
      head,
      log,
      states,
      files,
    };
    failPoint("backup:manifest");
    writeManifest(directory, manifest);
    failPoint("backup:unused");
    removeUnused(directory, STORED_LOG_FOLDER, [...log, ...states]);
    removeUnused(directory, STORED_FILES_FOLDER, files);
    const bytes = [...log, ...states, ...files].reduce((sum, file) => sum + file.bytes, 0);
    return { head, bytes, copiedBytes, hasKeys };
  } finally {
    lock.release();
  }
}

/** Names that a backup uses in its folder. */
const OWN_NAMES: ReadonlySet<string> = new Set([MANIFEST_FILE, "lock", STORED_LOG_FOLDER, STORED_FILES_FOLDER]);

/** Leaves a folder that was named by mistake unchanged. */
function assertOwnFolder(directory: string): void {
  const foreign = ifPresent(() => readdirSync(directory))?.find(
    (name) => !OWN_NAMES.has(name) && !name.endsWith(".tmp"),
  );
  if (foreign === undefined) return;
  throw new ForeignBackupError(
    `${directory} has ${foreign}, which does not belong to a backup: choose a new or empty folder`,
    {
      directory,
    },
  );
}

/** The genesis file's fork times may change, block 0 may not. */
function assertSameChain({ files }: Manifest, home: string, directory: string): void {
  const path = genesisPath(home);
  const stored = files.find((file) => join(home, file.path) === path);
  const known = stored && storedContent(directory, stored.stored);
  const current = ifPresent(() => readFileSync(path));
  if (known === undefined || current === undefined || current.equals(known)) return;
  const [before, now] = [known, current].map((text) => genesisBlock(parseGenesis(text.toString("utf8"))).block.hash);
  if (before === now) return;
  throw new ForeignBackupError(
    `${directory} has a backup of another chain: its block 0 is ${before}, that of ${home} is ${now}`,
    {
      directory,
    },
  );
}
