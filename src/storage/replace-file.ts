import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { syncDirectory } from "./log-file.ts";

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
