import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { LOG_FOLDER } from "../chain/store/log/replace-log.ts";
import { cometbftPath, dataPath, genesisPath } from "../config/home.ts";
import { markRestored } from "../consensus/cometbft/signing/restored.ts";
import { NodeError } from "../errors.ts";
import { ifPresent } from "../storage/if-present.ts";
import { type LogFile, openLogDirectory, openLogDirectoryReadOnly } from "../storage/log-file.ts";
import { makeFolder, syncDirectory } from "../storage/make-folder.ts";
import { createFile } from "../storage/replace-file.ts";
import { assertKnownFormat, LOG_FORMAT } from "../storage/schema.ts";
import { sha256OfBytes } from "./home-files.ts";
import { BackupDamagedError, type BlockName, readManifest, type StoredFile, type StoredHomeFile } from "./manifest.ts";

/** There is something in the folder that is to become a home. */
class HomeNotEmptyError extends NodeError {
  readonly code = "RESTORE_HOME_NOT_EMPTY";
}

/** In a home while it is being restored: what is in it may be removed. */
const UNFINISHED_FILE = "restore-unfinished";
/** Read, compared and written at a time. */
const CHUNK_BYTES = 4 << 20;

export type RestoreOptions = {
  /** The folder of the backup. */
  readonly directory: string;
  /** New or empty, or left by a restore that was interrupted. Undefined: the backup is read and compared, and nothing is written. */
  readonly home: string | undefined;
  /** Called with bytes of the backup that were read, and all of them. */
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
};

/**
 * Makes a home of a backup, and compares each byte with its manifest. The node makes the index from the log when it starts. The signing state of a
 * validator is not part of a backup: its key signs once the network has shown how far it has signed (`signing/restored.ts`).
 * @throws BackupDamagedError, HomeNotEmptyError, UnknownFormatError
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const { directory, home, onProgress, now } = options;
  const { log, states, files, head, logFormat, createdAt, hasKeys } = readManifest(directory);
  assertKnownFormat("block log", logFormat, LOG_FORMAT);
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
      await reader.copyLogFile(file, copy);
    } finally {
      copy?.close();
    }
  }
  target?.sync();
  const contents = files.map((file) => ({ file, content: reader.homeFile(file) }));
  if (home !== undefined) finishHome(home, contents, { now, head });
  return { head, bytes, createdAt, hasKeys };
}

/** @throws HomeNotEmptyError */
function beginHome(home: string): void {
  makeFolder(home);
  const names = readdirSync(home);
  if (names.length > 0 && !names.includes(UNFINISHED_FILE)) {
    throw new HomeNotEmptyError(`${home} is not empty: name a new folder; nothing was changed`, { home });
  }
  createFile(join(home, UNFINISHED_FILE), "", 0o600);
  for (const name of names) {
    if (name !== UNFINISHED_FILE) rmSync(join(home, name), { recursive: true });
  }
}

/** The genesis comes last: its presence makes a folder a home, and one that is a home is never removed by another restore. */
function finishHome(
  home: string,
  contents: readonly { readonly file: StoredHomeFile; readonly content: Buffer }[],
  { now, head }: Pick<RestoreOptions, "now"> & { readonly head: BlockName },
): void {
  const isGenesis = ({ path }: StoredHomeFile) => join(home, path) === genesisPath(home);
  const isEngine = ({ path }: StoredHomeFile) => join(home, path).startsWith(`${cometbftPath(home)}/`);
  if (contents.some(({ file }) => isEngine(file))) {
    markRestored(cometbftPath(home), { restoredAt: new Date(now()).toISOString(), height: head.number });
  }
  const write = ({ file, content }: (typeof contents)[number]) => {
    const path = join(home, file.path);
    makeFolder(dirname(path));
    createFile(path, content, file.mode);
  };
  for (const each of contents) if (!isGenesis(each.file)) write(each);
  rmSync(join(home, UNFINISHED_FILE));
  syncDirectory(home);
  for (const each of contents) if (isGenesis(each.file)) write(each);
}

/** Reads files of a backup as its manifest has them. */
class BackupReader {
  readonly #directory: string;
  readonly #onRead: (bytes: number) => void;

  constructor(directory: string, onRead: (bytes: number) => void) {
    this.#directory = directory;
    this.#onRead = onRead;
  }

  /** @param target an empty file, which has the content when the promise resolves, durably @throws BackupDamagedError */
  async copyLogFile(file: StoredFile, target: LogFile | undefined): Promise<void> {
    const [folder, name] = [dirname(file.stored), file.stored.slice(dirname(file.stored).length + 1)];
    const source = ifPresent(() => openLogDirectoryReadOnly(join(this.#directory, folder)).open(name));
    if (source === undefined) throw damaged(file, "is missing");
    try {
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
      if (hash.digest("hex") !== file.sha256) throw damaged(file, "has other content");
      target?.sync();
    } finally {
      source.close();
    }
  }

  /** @throws BackupDamagedError */
  homeFile(file: StoredHomeFile): Buffer {
    const content = ifPresent(() => readFileSync(join(this.#directory, file.stored)));
    if (content === undefined) throw damaged(file, "is missing");
    if (content.length !== file.bytes || sha256OfBytes(content) !== file.sha256)
      throw damaged(file, "has other content");
    this.#onRead(content.length);
    return content;
  }
}

function damaged({ stored }: StoredFile, what: string): BackupDamagedError {
  return new BackupDamagedError(`the backup is damaged: ${stored} ${what}`, { stored });
}
