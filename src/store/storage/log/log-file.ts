import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { makeFolder, syncDirectory } from "../make-folder.ts";
import { openRegularFile } from "../read-file.ts";

/** One file of a log, open. Positions and sizes in bytes. */
export interface LogFile {
  size(): number;
  /** Fills `into` from `position` as far as the file reaches; the number of bytes read. */
  read(into: Uint8Array, position: number): number;
  /** All of `bytes` at `position`, or an exception with any part of them written. */
  write(bytes: Uint8Array, position: number): void;
  truncate(size: number): void;
  /** Returns when content and size are on disk to stay. */
  sync(): void;
  close(): void;
}

/** A directory that holds nothing but the files of one log. */
export interface LogDirectory {
  /** Names of the files, sorted. */
  list(): string[];
  /** Opens a file for reading and writing; makes an empty one when it is not there. */
  open(name: string): LogFile;
  remove(name: string): void;
  /** Returns when the list of names is on disk to stay. */
  sync(): void;
}

/** The directory at `path`, made when missing. */
export function openLogDirectory(path: string): LogDirectory {
  makeFolder(path);
  return {
    list: () => readdirSync(path).sort(),
    open(name) {
      const file = join(path, name);
      return new DiskFile(openSync(file, existsSync(file) ? "r+" : "wx+", 0o600));
    },
    remove: (name) => unlinkSync(join(path, name)),
    sync: () => syncDirectory(path),
  };
}

/** The files of the log in the directory at `path`, which another thread or process writes. Writing to them fails. */
export function openLogDirectoryReadOnly(path: string): Pick<LogDirectory, "list" | "open"> {
  return {
    list: () => readdirSync(path).sort(),
    open: (name) => new DiskFile(openSync(join(path, name), "r")),
  };
}

/** A file of a log that somebody else made. Writing to it fails. @throws UnusableFileError, and what the file system throws */
export function openForeignLogFile(path: string): LogFile {
  return new DiskFile(openRegularFile(path, { bytesMax: Number.MAX_SAFE_INTEGER, refuseLinks: true }).fd);
}

class DiskFile implements LogFile {
  readonly #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  size(): number {
    return fstatSync(this.#fd).size;
  }

  read(into: Uint8Array, position: number): number {
    let done = 0;
    while (done < into.length) {
      const count = readSync(this.#fd, into, done, into.length - done, position + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  write(bytes: Uint8Array, position: number): void {
    let done = 0;
    while (done < bytes.length) {
      done += writeSync(this.#fd, bytes, done, bytes.length - done, position + done);
    }
  }

  truncate(size: number): void {
    ftruncateSync(this.#fd, size);
  }

  sync(): void {
    fdatasyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }
}
