import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes `path` and the folders above it that are missing, readable by their owner only. A power cut does not take them: what is synced in a folder is
 * lost with its name.
 * `mkdirSync` with `recursive` never returns where the kernel answers ENOENT for a folder in one that exists, as in /proc.
 * @throws the error of `mkdir`, or ENOTDIR where `path` or a folder above it is a file
 */
export function makeFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  const above = dirname(path);
  // A file there is left to `mkdir`: newer versions of Node have no ENOTDIR in `stat`.
  const isMissing = above !== path && statSync(above, { throwIfNoEntry: false }) === undefined;
  if (found === undefined && isMissing) makeFolder(above);
  try {
    mkdirSync(path, { mode: 0o700 });
    syncDirectory(above);
  } catch (error) {
    // Another process can have made it in the meantime.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** Makes what was written to a file durable. */
export function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes the entries of a directory durable. Windows has no such call and needs none. */
export function syncDirectory(path: string): void {
  if (process.platform === "win32") return;
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
