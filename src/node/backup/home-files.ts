import { createHash } from "node:crypto";
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { NodeError } from "../../base/errors.ts";
import { ifPresent } from "../../store/storage/if-present.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import { readRegularFile, UnusableFileError } from "../../store/storage/read-file.ts";
import { createFile } from "../../store/storage/replace-file.ts";
import { isBackupPath, type StoredFile, type StoredHomeFile } from "./manifest.ts";

/** Files and folders of a home that a backup includes besides the block log; `secret` matches paths that a backup without keys omits. */
const SAVED: readonly { readonly path: string; readonly secret?: RegExp; readonly except?: RegExp }[] = [
  { path: "config", secret: /\.(?:hex|key|pem)$|secret|token/, except: /^config\/reset\.json$/ },
  { path: "keystore", secret: /./ },
  { path: "hdwallets", secret: /./ },
  { path: "shh", secret: /./ },
  { path: "contracts" },
  { path: "clique-proposals.json" },
  // The forks by which the blocks were executed, and the source from which CometBFT's state is rebuilt.
  { path: "data/fork-schedule.json" },
  { path: "data/engine-states" },
  // Excludes files that the node writes at each start, and the validator's signing state, which only the network knows.
  {
    path: "cometbft/config",
    secret: /key/,
    except: /^cometbft\/config\/(?:config\.toml|addrbook\.json|restored\.json|follower_key\.json)$/,
  },
];

/** Home files are read whole. Settings, keys and a genesis with thousands of accounts take a few megabytes. */
export const HOME_FILE_BYTES_MAX = 1 << 30;
/** Files in the backup are named by the hash of their content: changed content becomes a new file, and the previous backup keeps its own. */
export const STORED_FILES_FOLDER = "files";

/** A home file that a backup cannot include. */
class UnusualFileError extends NodeError {
  readonly code = "BACKUP_UNUSUAL_FILE";
}

/** Whether a backup includes a home's file at `path`. */
export function isSaved(path: string): boolean {
  return SAVED.some(
    ({ path: saved, except }) => (path === saved || path.startsWith(`${saved}/`)) && !except?.test(path),
  );
}

/**
 * Copies the files of a home to the folder of a backup. Links are not followed.
 * @throws UnusualFileError
 */
export function copyHomeFiles(
  home: string,
  directory: string,
  { hasKeys }: { readonly hasKeys: boolean },
): readonly StoredHomeFile[] {
  makeFolder(join(directory, STORED_FILES_FOLDER));
  return SAVED.flatMap(({ path, secret, except }) =>
    filesIn(home, path)
      .filter((file) => !except?.test(file) && (hasKeys || !secret?.test(file)))
      .flatMap((file) => copyFile(home, file, directory) ?? []),
  );
}

/** Removes files that no entry of `used` names. */
export function removeUnused(directory: string, folder: string, used: readonly StoredFile[]): void {
  const names = new Set(used.map(({ stored }) => stored));
  for (const name of ifPresent(() => readdirSync(join(directory, folder))) ?? []) {
    const stored = `${folder}/${name}`;
    if (!names.has(stored)) rmSync(join(directory, stored), { recursive: true, force: true });
  }
}

/** Paths of files at or below `path`, relative to the home. */
function filesIn(home: string, path: string): string[] {
  const stat = lstatSync(join(home, path), { throwIfNoEntry: false });
  if (stat?.isFile()) return isTemporary(path) ? [] : [path];
  if (!stat?.isDirectory()) return [];
  return readdirSync(join(home, path))
    .sort()
    .flatMap((name) => filesIn(home, `${path}/${name}`));
}

/** Whether it is a temporary file of `replaceFile`. */
function isTemporary(path: string): boolean {
  return /(?:^|\/)\.[0-9a-f-]{36}\.tmp$/.test(path);
}

/** undefined if the file was removed meanwhile. */
function copyFile(home: string, path: string, directory: string): StoredHomeFile | undefined {
  const source = join(home, path);
  const stat = lstatSync(source, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (!isBackupPath(path) || stat.size > HOME_FILE_BYTES_MAX) {
    throw new UnusualFileError(`${source} cannot be part of a backup: its name is unusual, or it is too large`, {
      path,
    });
  }
  const content = ifPresent(() => readRegularFile(source, { bytesMax: HOME_FILE_BYTES_MAX, refuseLinks: true }));
  if (content === undefined) return undefined;
  const sha256 = sha256OfBytes(content);
  const stored = `${STORED_FILES_FOLDER}/${sha256}`;
  // An existing file may be on a disk that lost part of it.
  const known = storedContent(directory, stored);
  if (known === undefined || sha256OfBytes(known) !== sha256)
    rmSync(join(directory, stored), { recursive: true, force: true });
  createFile(join(directory, stored), content, 0o600);
  return { path, mode: stat.mode & 0o777, stored, bytes: content.length, sha256 };
}

/** The content of a stored file of a home; undefined if there is no usable one. */
export function storedContent(directory: string, stored: string): Buffer | undefined {
  try {
    return ifPresent(() =>
      readRegularFile(join(directory, stored), { bytesMax: HOME_FILE_BYTES_MAX, refuseLinks: true }),
    );
  } catch (error) {
    if (error instanceof UnusableFileError) return undefined;
    throw error;
  }
}

/** In hex. */
export function sha256OfBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
