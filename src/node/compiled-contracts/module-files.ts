import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../store/storage/make-folder.ts";
import { replaceFile } from "../../store/storage/replace-file.ts";

const SUM_BYTES = 32;
const SUFFIX = ".wasm";

/**
 * Files in a cache directory, which may be deleted at any time. Their total size is bounded; the least recently read are removed. Each file
 * begins with the SHA-256 of its contents, and a mismatch counts as missing. Several processes may share the directory.
 */
export class ModuleFiles {
  readonly #directory: string;
  readonly #bytesMax: number;
  /** As far as this process knows; undefined before its first write. */
  #bytes: number | undefined;

  constructor(directory: string, bytesMax: number) {
    this.#directory = directory;
    this.#bytesMax = bytesMax;
  }

  /** Size of all files, if this process wrote one. */
  get bytes(): number {
    return this.#bytes ?? 0;
  }

  /** @throws errors of the file system, except for a missing file */
  read(name: string): Uint8Array<ArrayBuffer> | undefined {
    const path = this.#pathOf(name);
    let file: Buffer<ArrayBuffer>;
    try {
      file = readFileSync(path);
      const now = new Date();
      utimesSync(path, now, now);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    const contents = file.subarray(SUM_BYTES);
    return sumOf(contents).equals(file.subarray(0, SUM_BYTES)) ? new Uint8Array(contents) : undefined;
  }

  /** @throws errors of the file system */
  write(name: string, contents: Uint8Array): void {
    makeFolder(this.#directory);
    replaceFile(this.#pathOf(name), Buffer.concat([sumOf(contents), contents]), 0o600);
    this.#bytes = (this.#bytes ?? 0) + SUM_BYTES + contents.length;
    if (this.#bytes > this.#bytesMax || this.#bytes === SUM_BYTES + contents.length) this.#prune();
  }

  /** Counts all files, also of other processes, and removes the oldest until three quarters of the bound remain. */
  #prune(): void {
    const files = readdirSync(this.#directory).flatMap((name) => {
      const path = join(this.#directory, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats?.isFile() ? [{ path, bytes: stats.size, readAt: stats.mtimeMs }] : [];
    });
    let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total > this.#bytesMax) {
      files.sort((a, b) => a.readAt - b.readAt);
      for (const { path, bytes } of files) {
        if (total <= this.#bytesMax * 0.75) break;
        rmSync(path, { force: true });
        total -= bytes;
      }
    }
    this.#bytes = total;
  }

  #pathOf(name: string): string {
    return join(this.#directory, `${name}${SUFFIX}`);
  }
}

function sumOf(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
