import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { NodeError } from "../../base/errors.ts";
import { decodePrefix } from "../../chain/records/block-record.ts";
import { LOG_FOLDER } from "../../chain/store/replace-log.ts";
import { markRestored } from "../../consensus/cometbft/signing/restored.ts";
import { MalformedBytesError } from "../../store/storage/byte-io.ts";
import { type LogFile, openForeignLogFile, openLogDirectory } from "../../store/storage/log/log-file.ts";
import {
  RECORD_HEADER_LENGTH,
  readRecord,
  readSegmentHeader,
  segmentBase,
} from "../../store/storage/log/log-segment.ts";
import { makeFolder, syncDirectory } from "../../store/storage/make-folder.ts";
import { readRegularFile, UnusableFileError } from "../../store/storage/read-file.ts";
import { createFile } from "../../store/storage/replace-file.ts";
import { assertKnownFormat, LOG_FORMAT } from "../../store/storage/schema.ts";
import { cometbftPath, dataPath, genesisPath } from "../config/home.ts";
import { HOME_FILE_BYTES_MAX, isSaved, STORED_FILES_FOLDER, sha256OfBytes } from "./home-files.ts";
import { STORED_LOG_FOLDER } from "./log-copy.ts";
import {
  BackupDamagedError,
  type BlockName,
  type Manifest,
  readManifest,
  type StoredFile,
  type StoredHomeFile,
  type StoredSegment,
} from "./manifest.ts";

/** The folder for the new home is not empty. */
class HomeNotEmptyError extends NodeError {
  readonly code = "RESTORE_HOME_NOT_EMPTY";
}

const STATE_FILE = /^\d{16}\.state$/;
/** Marks a home during its restore; an interrupted one may be removed. */
const UNFINISHED_FILE = "restore-unfinished";
/** Bytes read, compared and written at a time. */
const CHUNK_BYTES = 4 << 20;

export type RestoreOptions = {
  /** The backup folder. */
  readonly directory: string;
  /** New or empty, or left by an interrupted restore. Undefined: the backup is only read and verified. */
  readonly home: string | undefined;
  /** Called with the bytes of the backup read so far, and the total. */
  readonly onProgress: (done: number, total: number) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
};

export type RestoreResult = {
  readonly head: BlockName;
  readonly bytes: number;
  /** ISO 8601, when the backup was made. */
  readonly createdAt: string;
  readonly hasKeys: boolean;
  /** Restored paths besides the block log, such as settings and keys, which a node obeys. */
  readonly files: readonly string[];
};

/**
 * Makes a home from a backup and compares each byte with the manifest. The node rebuilds the index from the log when it starts. A backup does
 * not include a validator's signing state: its key signs once the network has shown how far it has signed (`signing/restored.ts`).
 * @throws BackupDamagedError, HomeNotEmptyError, UnknownFormatError
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const { directory, home, onProgress, now } = options;
  const manifest = readManifest(directory);
  assertKnownFormat("block log", manifest.logFormat, LOG_FORMAT);
  assertRestorable(manifest);
  const { log, states, files, head, createdAt, hasKeys } = manifest;
  const bytes = [...log, ...states, ...files].reduce((sum, file) => sum + file.bytes, 0);
  if (home !== undefined) beginHome(home);
  let done = 0;
  const reader = new BackupReader(directory, (count) => {
    done += count;
    onProgress(done, bytes);
  });
  const target = home === undefined ? undefined : openLogDirectory(join(dataPath(home), LOG_FOLDER));
  for (const file of [...log, ...states]) {
    const copy = target?.open(file.name);
    try {
      await reader.copyLogFile(file, copy, "tip" in file ? file : undefined);
    } finally {
      copy?.close();
    }
  }
  target?.sync();
  // All files are verified before the first is written, and only one is in memory at a time.
  for (const file of files) {
    reader.homeFile(file);
    done += file.bytes;
    onProgress(done, bytes);
  }
  if (home !== undefined) finishHome(home, files, (file) => reader.homeFile(file), { now, head });
  return { head, bytes, createdAt, hasKeys, files: files.map(({ path }) => path) };
}

/**
 * A digest does not authenticate the manifest, so only paths that this program backs up are restored.
 * @throws BackupDamagedError
 */
function assertRestorable({ log, states, files, head }: Manifest): void {
  for (const [i, segment] of log.entries()) {
    const { name, first, tip, bytes, tipAt } = segment;
    const [base, next] = [segmentBase(name), log[i + 1]];
    if (base === undefined || !isIn(segment, STORED_LOG_FOLDER)) throw damaged(segment, `is not segment ${name}`);
    if (first > tip.number || tipAt >= bytes) throw damaged(segment, "has no last block");
    if (next === undefined) continue;
    if (segmentBase(next.name) !== base + bytes || next.first !== tip.number + 1)
      throw damaged(next, "does not continue the log");
  }
  const { tip } = log.at(-1)!;
  if (tip.number !== head.number || tip.hash !== head.hash) {
    throw new BackupDamagedError("the backup is damaged: its newest block is not the last block of its log", { head });
  }
  for (const state of states) {
    if (!STATE_FILE.test(state.name) || !isIn(state, STORED_LOG_FOLDER))
      throw damaged(state, `is not state file ${state.name}`);
  }
  const paths = new Set(files.map(({ path }) => path));
  for (const file of files) {
    if (!isSaved(file.path) || !isIn(file, STORED_FILES_FOLDER))
      throw damaged(file, `does not belong in a home: ${file.path}`);
    if (file.bytes > HOME_FILE_BYTES_MAX) throw damaged(file, "is too large");
    for (let above = dirname(file.path); above !== "."; above = dirname(above)) {
      if (paths.has(above)) throw damaged(file, `is below the file ${above}`);
    }
  }
  const names = [...log, ...states].map(({ name }) => name);
  if (paths.size < files.length || new Set(names).size < names.length) {
    throw new BackupDamagedError("the backup is damaged: two of its files have the same path");
  }
}

function isIn({ stored }: StoredFile, folder: string): boolean {
  return dirname(stored) === folder;
}

/** @throws HomeNotEmptyError */
function beginHome(home: string): void {
  makeFolder(home);
  const names = readdirSync(home);
  if (names.length > 0 && !names.includes(UNFINISHED_FILE)) {
    throw new HomeNotEmptyError(`${home} is not empty: choose a new folder; nothing was changed`, { home });
  }
  createFile(join(home, UNFINISHED_FILE), "", 0o600);
  for (const name of names) {
    if (name !== UNFINISHED_FILE) rmSync(join(home, name), { recursive: true });
  }
}

/** Writes the genesis last: it makes the folder a home, and no later restore removes a home. */
function finishHome(
  home: string,
  files: readonly StoredHomeFile[],
  contentOf: (file: StoredHomeFile) => Buffer,
  { now, head }: Pick<RestoreOptions, "now"> & { readonly head: BlockName },
): void {
  const isGenesis = ({ path }: StoredHomeFile) => join(home, path) === genesisPath(home);
  const isEngine = ({ path }: StoredHomeFile) => join(home, path).startsWith(`${cometbftPath(home)}/`);
  if (files.some(isEngine)) {
    markRestored(cometbftPath(home), { restoredAt: new Date(now()).toISOString(), height: head.number });
  }
  const write = (file: StoredHomeFile) => {
    const path = join(home, file.path);
    makeFolder(dirname(path));
    createFile(path, contentOf(file), file.mode);
  };
  for (const file of files) if (!isGenesis(file)) write(file);
  rmSync(join(home, UNFINISHED_FILE));
  syncDirectory(home);
  for (const file of files) if (isGenesis(file)) write(file);
}

/** Reads files of a backup and verifies them against the manifest. */
class BackupReader {
  readonly #directory: string;
  readonly #onRead: (bytes: number) => void;

  constructor(directory: string, onRead: (bytes: number) => void) {
    this.#directory = directory;
    this.#onRead = onRead;
  }

  /**
   * @param target an empty file, which holds the content durably when the promise resolves
   * @param segment the file, if it belongs to the block log
   * @throws BackupDamagedError
   */
  async copyLogFile(file: StoredFile, target: LogFile | undefined, segment: StoredSegment | undefined): Promise<void> {
    const source = this.#usable(file, () => openForeignLogFile(join(this.#directory, file.stored)));
    try {
      if (source.size() < file.bytes) throw damaged(file, "is too short");
      const hash = createHash("sha256");
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      for (let at = 0; at < file.bytes; ) {
        const filled = chunk.subarray(0, source.read(chunk.subarray(0, Math.min(CHUNK_BYTES, file.bytes - at)), at));
        if (filled.length === 0) throw damaged(file, "is too short");
        hash.update(filled);
        target?.write(filled, at);
        at += filled.length;
        this.#onRead(filled.length);
        await setImmediate();
      }
      if (hash.digest("hex") !== file.sha256) throw damaged(file, "has different content");
      if (segment !== undefined && !hasTip(source, segment)) throw damaged(file, "has a different last block");
      target?.sync();
    } finally {
      source.close();
    }
  }

  /** @throws BackupDamagedError */
  homeFile(file: StoredHomeFile): Buffer {
    const bounds = { bytesMax: HOME_FILE_BYTES_MAX, refuseLinks: true };
    const content = this.#usable(file, () => readRegularFile(join(this.#directory, file.stored), bounds));
    if (content.length !== file.bytes || sha256OfBytes(content) !== file.sha256)
      throw damaged(file, "has different content");
    return content;
  }

  /** The result of `open`. @throws BackupDamagedError if the path is missing or not a regular file */
  #usable<T>(file: StoredFile, open: () => T): T {
    try {
      return open();
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") throw damaged(file, "is missing", cause);
      if (cause instanceof UnusableFileError)
        throw damaged(file, cause.message.slice(join(this.#directory, file.stored).length + 1), cause);
      throw cause;
    }
  }
}

/** Whether the last record of a segment holds the manifest's tip. */
function hasTip(file: LogFile, { name, tip, tipAt, bytes }: StoredSegment): boolean {
  const header = readSegmentHeader(file);
  if (header === undefined || header.base !== segmentBase(name)) return false;
  const payload = readRecord(file, header.salt, tipAt);
  if (payload === undefined || tipAt + RECORD_HEADER_LENGTH + payload.length !== bytes) return false;
  try {
    const { number, hash } = decodePrefix(payload);
    return number === tip.number && hash === tip.hash;
  } catch (error) {
    if (error instanceof MalformedBytesError) return false;
    throw error;
  }
}

function damaged({ stored }: StoredFile, what: string, cause?: unknown): BackupDamagedError {
  return new BackupDamagedError(`the backup is damaged: ${stored} ${what}`, { stored }, { cause });
}
