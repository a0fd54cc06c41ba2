import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { NodeError } from "../../base/errors.ts";

/** What is at a path is not what a reader takes: not a regular file, too large, not UTF-8 or not JSON. */
export class UnusableFileError extends NodeError {
  readonly code = "FILE_UNUSABLE";
  constructor(path: string, what: string, options?: ErrorOptions) {
    super(`${path} ${what}`, { path }, options);
  }
}

export type FileBounds = {
  /** Larger files are refused before they are read. */
  readonly bytesMax: number;
  /** The path must not end at a link: the file is from somebody who may have put it there. */
  readonly refuseLinks?: boolean;
};

/** Opening a FIFO or a device must not wait for its other end. Windows has neither flag, nor such files. */
const { O_RDONLY = 0, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;

/**
 * Opens a file that somebody else may have made, for reading; the caller closes it.
 * @returns its descriptor, and its size in bytes
 * @throws UnusableFileError for anything but a regular file, and what the file system throws
 */
export function openRegularFile(
  path: string,
  { bytesMax, refuseLinks = false }: FileBounds,
): { readonly fd: number; readonly size: number } {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NONBLOCK | (refuseLinks ? O_NOFOLLOW : 0));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ELOOP") throw new UnusableFileError(path, "is a link", { cause });
    // A socket, or a device without a driver.
    if (code === "ENXIO" || code === "ENODEV") throw new UnusableFileError(path, NOT_REGULAR, { cause });
    throw cause;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new UnusableFileError(path, NOT_REGULAR);
    if (stat.size > bytesMax) throw new UnusableFileError(path, `has ${stat.size} bytes, more than ${bytesMax}`);
    return { fd, size: stat.size };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

const NOT_REGULAR = "is not a regular file";

/** All of a file that somebody else may have made. @throws UnusableFileError, and what the file system throws */
export function readRegularFile(path: string, bounds: FileBounds): Buffer {
  const { fd, size } = openRegularFile(path, bounds);
  try {
    const bytes = Buffer.allocUnsafe(size);
    let filled = 0;
    while (filled < size) {
      const count = readSync(fd, bytes, filled, size - filled, filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } finally {
    closeSync(fd);
  }
}

/** The text of such a file. @throws UnusableFileError, and what the file system throws */
export function readTextFile(path: string, bounds: FileBounds): string {
  const bytes = readRegularFile(path, bounds);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UnusableFileError(path, "is not UTF-8 text", { cause });
  }
}

/** The JSON value of such a file, of any shape. @throws UnusableFileError, and what the file system throws */
export function readJsonFile(path: string, bounds: FileBounds): unknown {
  const text = readTextFile(path, bounds);
  try {
    return JSON.parse(text);
  } catch (cause) {
    // V8's message quotes the text, which may be a secret.
    throw new UnusableFileError(path, "is not JSON", { cause: (cause as Error).name });
  }
}
