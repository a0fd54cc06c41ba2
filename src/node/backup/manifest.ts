import { createHash } from "node:crypto";
import { join } from "node:path";
import { NodeError } from "../../base/errors.ts";
import { bool, isJsonObject, listOf, matching, members, text, whole } from "../../base/primitives/shape.ts";
import { readTextFile } from "../../store/storage/read-file.ts";
import { replaceFile } from "../../store/storage/replace-file.ts";

/** Format version of a backup folder; other versions are rejected. */
export const BACKUP_FORMAT = 1;
export const MANIFEST_FILE = "manifest.json";
/** An archive of a few terabytes has about ten thousand segments of 400 bytes each in the manifest. */
const MANIFEST_BYTES_MAX = 256 << 20;

/** A backup differs from its manifest, or has no manifest. */
export class BackupDamagedError extends NodeError {
  readonly code = "BACKUP_DAMAGED";
}

/** A block, by number and hash. */
export type BlockName = { readonly number: number; readonly hash: string };

/** A file of the backup. The stored file may be longer, if a backup was interrupted. */
export type StoredFile = {
  /** Path below the backup folder. */
  readonly stored: string;
  readonly bytes: number;
  /** Hash of these bytes, in hex. */
  readonly sha256: string;
};

/** A segment of the block log up to its last complete record. */
export type StoredSegment = StoredFile & {
  /** Its file name in the log. */
  readonly name: string;
  /** Number of its first block. */
  readonly first: number;
  /** Its last block. */
  readonly tip: BlockName;
  /** Offset of the tip's record in the file. */
  readonly tipAt: number;
};

/** The complete state after a block, if the log does not begin with block 0. */
export type StoredState = StoredFile & { readonly name: string; readonly number: number };

/** A file of the home besides the log. */
export type StoredHomeFile = StoredFile & {
  /** Its path in the home. */
  readonly path: string;
  readonly mode: number;
};

export type Manifest = {
  readonly format: typeof BACKUP_FORMAT;
  /** Version of the program that wrote it. */
  readonly program: string;
  readonly logFormat: number;
  /** ISO 8601 */
  readonly createdAt: string;
  readonly hasKeys: boolean;
  readonly head: BlockName;
  readonly log: readonly StoredSegment[];
  readonly states: readonly StoredState[];
  readonly files: readonly StoredHomeFile[];
};

/** Replaces the manifest of the backup in `directory` durably, which makes the new backup the valid one. */
export function writeManifest(directory: string, manifest: Manifest): void {
  const text = JSON.stringify({ ...manifest, sha256: digestOf(manifest) }, null, 1);
  replaceFile(join(directory, MANIFEST_FILE), `${text}\n`, 0o600);
}

/** @throws BackupDamagedError if it is missing, or if its format or content is wrong */
export function readManifest(directory: string): Manifest {
  const path = join(directory, MANIFEST_FILE);
  let text: string;
  try {
    text = readTextFile(path, { bytesMax: MANIFEST_BYTES_MAX, refuseLinks: true });
  } catch (cause) {
    const isAbsent = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const message = isAbsent ? `no backup in ${directory}` : `the backup is damaged: ${(cause as Error).message}`;
    throw new BackupDamagedError(message, { path }, { cause });
  }
  return parseManifest(text, path);
}

function parseManifest(text: string, path: string): Manifest {
  const parsed = parseJson(text);
  if (!isJsonObject(parsed)) throw new BackupDamagedError(`${path} is damaged`, { path });
  const { sha256, ...manifest } = parsed;
  if (manifest["format"] !== BACKUP_FORMAT) {
    throw new BackupDamagedError(
      `${path} has backup format ${manifest["format"]}; this version reads ${BACKUP_FORMAT}`,
      {
        path,
      },
    );
  }
  const { log } = manifest as Manifest;
  if (sha256 !== digestOf(manifest) || MANIFEST(manifest) !== undefined || log.length === 0) {
    throw new BackupDamagedError(`${path} is damaged`, { path });
  }
  return manifest as Manifest;
}

/** Hash of the JSON text: detects a digit that changed on disk. */
export function digestOf(manifest: object): string {
  return createHash("sha256").update(JSON.stringify(manifest)).digest("hex");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A relative path as this program writes it: names of letters, digits, dots, dashes and underscores, but not only dots. */
const PATH = /^(?!.*(?:^|\/)\.+(?:\/|$))[\w.-]+(?:\/[\w.-]+)*$/;
const SHA256 = /^[0-9a-f]{64}$/;
const HASH = /^0x[0-9a-f]{64}$/;

/** Whether a backup may contain this path. */
export function isBackupPath(path: string): boolean {
  return PATH.test(path);
}

const PATHS = matching(PATH);
const BLOCK_NAME = members({ number: whole, hash: matching(HASH) });
const STORED = { stored: PATHS, bytes: whole, sha256: matching(SHA256) };
const MANIFEST = members({
  program: text,
  logFormat: whole,
  createdAt: text,
  hasKeys: bool,
  head: BLOCK_NAME,
  log: listOf(members({ ...STORED, name: PATHS, first: whole, tip: BLOCK_NAME, tipAt: whole })),
  states: listOf(members({ ...STORED, name: PATHS, number: whole })),
  files: listOf(members({ ...STORED, path: PATHS, mode: (value) => whole(value) ?? modeFault(value as number) })),
});

function modeFault(mode: number): string | undefined {
  return mode <= 0o777 ? undefined : "is not a file mode";
}
