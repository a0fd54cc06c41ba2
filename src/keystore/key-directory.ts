import { randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, open, readdir, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Address } from "../primitives/address.ts";
import { InvalidKeyFileError, LooseKeyFileError } from "./errors.ts";
import { KEY_FILE_BYTES_MAX } from "./key-file.ts";

/** A file that may be a key file. */
export type DirectoryEntry = {
  readonly path: string;
  /** Differs when the file was written since. */
  readonly version: string;
};

/** Key files as bytes on disk: the folder has mode 0700, files 0600, and each is whole or not there. */
export class KeyDirectory {
  readonly path: string;
  readonly #allowReadableByOthers: boolean;

  constructor(path: string, options: { readonly allowReadableByOthers: boolean }) {
    this.path = path;
    this.#allowReadableByOthers = options.allowReadableByOthers;
  }

  /** Regular files in ascending order of name; hidden files, backups (`~`) and links are no key files, as for geth. */
  async entries(): Promise<DirectoryEntry[]> {
    const entries: DirectoryEntry[] = [];
    for (const name of (await this.#names()).sort()) {
      if (name.startsWith(".") || name.endsWith("~")) continue;
      const path = join(this.path, name);
      const stat = await lstat(path).catch(() => undefined);
      // Gone between the two calls: somebody deleted a key by hand.
      if (stat?.isFile())
        entries.push({ path, version: `${stat.ino} ${stat.mtimeMs} ${stat.size}` });
    }
    return entries;
  }

  /** @throws InvalidKeyFileError when it is too large for a key file */
  async read(path: string): Promise<string> {
    const file = await open(path, "r");
    try {
      if ((await file.stat()).size > KEY_FILE_BYTES_MAX) throw new InvalidKeyFileError("too large");
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  }

  /** @throws LooseKeyFileError when group or world may read or write the file, unless that is allowed */
  async assertPrivate(path: string): Promise<void> {
    if (this.#allowReadableByOthers || process.platform === "win32") return;
    const mode = (await lstat(path)).mode & 0o777;
    if ((mode & 0o077) !== 0) throw new LooseKeyFileError(path, mode);
  }

  /** Writes the file of a new key, named as geth names it; its path. On disk to stay when this returns. */
  async create(address: Address, text: string, nowMs: number): Promise<string> {
    // geth has nanoseconds here; a JavaScript clock has milliseconds.
    const time = new Date(nowMs).toISOString().replaceAll(":", "-").replace("Z", "000000Z");
    const path = join(this.path, `UTC--${time}--${address.slice(2)}`);
    await this.replace(path, text);
    return path;
  }

  /** Writes `text` beside `path` and moves it there: a crash leaves the old file or the new one. */
  async replace(path: string, text: string): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    // Also when it was there before with another mode: the names tell which accounts this machine holds.
    await chmod(this.path, 0o700);
    const temporary = join(this.path, `.${randomUUID()}.tmp`);
    try {
      // "wx" is O_EXCL: never through a link somebody put there.
      const file = await open(temporary, "wx", 0o600);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await this.#sync();
  }

  async delete(path: string): Promise<void> {
    await unlink(path);
    await this.#sync();
  }

  /** A new or removed name is on disk to stay only when its folder is synced. */
  async #sync(): Promise<void> {
    // Windows has no handle for a folder.
    if (process.platform === "win32") return;
    const folder = await open(this.path, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
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
