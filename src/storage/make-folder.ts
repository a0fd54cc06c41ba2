import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes `path` and the folders above it that are missing, readable by their owner only.
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
  } catch (error) {
    // Another process can have made it in the meantime.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
