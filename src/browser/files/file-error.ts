/** A call of the file system failed; `code` is that of the operating system for the same fault. */
export class FileError extends Error {
  readonly code: FileErrorCode;
  constructor(code: FileErrorCode, path: string, options?: ErrorOptions) {
    super(`${code}: ${path}`, options);
    this.name = "FileError";
    this.code = code;
  }
}

export type FileErrorCode =
  | "EBADF"
  | "EEXIST"
  | "EISDIR"
  | "ENAMETOOLONG"
  | "ENFILE"
  | "ENOENT"
  | "ENOSPC"
  | "ENOTDIR"
  | "ENOTEMPTY";
