import { randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { syncDirectory } from "./make-folder.ts";

/**
 * Replaces the file at `path`, whose directory must exist. A crash leaves the old file or the new one; when it returns, the new
 * one is durable.
 * @param mode permissions of the new file
 */
export function replaceFile(path: string, content: string | Uint8Array, mode: number): void {
  const directory = dirname(path);
  const temporary = join(directory, `.${randomUUID()}.tmp`);
  try {
    // "wx" is O_EXCL: never through a link that somebody put there.
    const file = openSync(temporary, "wx", mode);
    try {
      writeFileSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncDirectory(directory);
}

/** Makes the file at `path`, whose directory must exist, unless there is one. A crash leaves none or the whole one; when it returns, it is durable. */
export function createFile(path: string, content: string | Uint8Array, mode: number): void {
  if (!existsSync(path)) replaceFile(path, content, mode);
}
