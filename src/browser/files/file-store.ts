import type { LogFile } from "../../storage/log-file.ts";
import { createMemoryLogDirectory } from "../../storage/memory-log-directory.ts";

/** Where the contents of files are. A file's `close` frees its place; a file of the tree stays open. */
export type FileStore = {
  /** The files outlive the thread. */
  readonly isDurable: boolean;
  /** Bytes that can still be written. */
  freeBytes(): number;
  /** An empty file. Its name is durable when this returns. @throws FileError ENFILE, ENOSPC */
  create(path: string): LogFile;
  /** Afterwards a crash leaves the file under its new name, and none under the old one. */
  rename(file: LogFile, path: string): void;
  /** Afterwards the file has no name, so that a crash frees it. */
  unlink(file: LogFile): void;
};

/** Contents that end with the thread. */
export function createMemoryFileStore(): FileStore {
  return {
    isDurable: false,
    // As much as an ArrayBuffer may have; what there really is shows only when it is used up.
    freeBytes: () => 2 ** 32,
    create: () => createMemoryLogDirectory().open(""),
    rename() {},
    unlink() {},
  };
}
