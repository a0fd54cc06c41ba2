import { chmod, lstat, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Address } from "../../base/primitives/address.ts";
import { makeFolder, syncDirectory } from "../../store/storage/make-folder.ts";
import { readTextFile, UnusableFileError } from "../../store/storage/read-file.ts";
import { replaceFile } from "../../store/storage/replace-file.ts";
import { InvalidKeyFileError, LooseKeyFileError } from "./errors.ts";
import { KEY_FILE_BYTES_MAX } from "./key-file.ts";

type DirectoryEntry = {
  readonly path: string;
  /** Changes whenever the file is written. */
  readonly version: string;
};

/** Key files as bytes on disk: the folder has mode 0700, files have 0600, and each is complete or absent. */
export class KeyDirectory {
  readonly path: string;
  readonly #allowReadableByOthers: boolean;

  constructor(path: string, options: { readonly allowReadableByOthers: boolean }) {
    this.path = path;
    this.#allowReadableByOthers = options.allowReadableByOthers;
  }

  /** Regular files in ascending order of name; hidden files, backups (`~`) and links are not key files, as in geth. */
  async entries(): Promise<DirectoryEntry[]> {
    const entries: DirectoryEntry[] = [];
    for (const name of (await this.#names()).sort()) {
      if (name.startsWith(".") || name.endsWith("~")) continue;
      const path = join(this.path, name);
      const stat = await lstat(path).catch(() => undefined);
      // Deleted between the two calls.
      if (stat?.isFile()) entries.push({ path, version: `${stat.ino} ${stat.mtimeMs} ${stat.size}` });
    }
    return entries;
  }

  /** @throws InvalidKeyFileError if it is not a regular file, or too large for a key file */
  async read(path: string): Promise<string> {
    try {
      return readTextFile(path, { bytesMax: KEY_FILE_BYTES_MAX, refuseLinks: true });
    } catch (error) {
      if (error instanceof UnusableFileError) throw new InvalidKeyFileError(error.message);
      throw error;
    }
  }

  /** @throws LooseKeyFileError if group or others may read or write the file, unless that is allowed */
  async assertPrivate(path: string): Promise<void> {
    if (this.#allowReadableByOthers || process.platform === "win32") return;
    const mode = (await lstat(path)).mode & 0o777;
    if ((mode & 0o077) !== 0) throw new LooseKeyFileError(path, mode);
  }

  /** Writes the file of a new key under geth's naming scheme, durably. @returns the path */
  async create(address: Address, text: string, nowMs: number): Promise<string> {
    // geth has nanoseconds here; a JavaScript clock has milliseconds.
    const time = new Date(nowMs).toISOString().replaceAll(":", "-").replace("Z", "000000Z");
    const path = join(this.path, `UTC--${time}--${address.slice(2)}`);
    await this.replace(path, text);
    return path;
  }

  /** Writes `text` next to `path` and renames it: a crash leaves the old or the new file. */
  async replace(path: string, text: string): Promise<void> {
    makeFolder(this.path);
    // Also fixes the mode of an existing folder: the names reveal which accounts this machine holds.
    await chmod(this.path, 0o700);
    replaceFile(path, text, 0o600);
  }

  async delete(path: string): Promise<void> {
    await unlink(path);
    syncDirectory(this.path);
  }

  async #names(): Promise<string[]> {
    try {
      return await readdir(this.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }
}
