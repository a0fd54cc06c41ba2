import type { LogFile } from "../../storage/log-file.ts";
import { FileError } from "../files/file-error.ts";
import { Buffer } from "../platform/buffer.ts";
import { crc32 } from "../platform/zlib.ts";
import type { SyncAccessHandle } from "../web.ts";

/**
 * A file of the pool.
 *
 *     header    magic 8 "EVMFILE1" ‖ crc32 of what follows ‖ generation u64 ‖ length of path u16 ‖ path, UTF-8
 *     content   from byte 4096 on
 *
 * Integers are little-endian. A file without a whole header is free. Of two files with one path, that of the higher generation has it.
 */
const MAGIC = Buffer.from("EVMFILE1");
const CHECKED_AT = MAGIC.length + 4;
const PATH_AT = CHECKED_AT + 10;
const CONTENT_AT = 4_096;
const PATH_BYTES_MAX = CONTENT_AT - PATH_AT;

export type FileName = { readonly path: string; readonly generation: number };

export class PoolFile implements LogFile {
  readonly #handle: SyncAccessHandle;
  readonly #onFree: (file: PoolFile) => void;

  /** @param onFree called when the content is no longer used */
  constructor(handle: SyncAccessHandle, onFree: (file: PoolFile) => void) {
    this.#handle = handle;
    this.#onFree = onFree;
  }

  /** undefined: the file is free */
  name(): FileName | undefined {
    const header = Buffer.alloc(CONTENT_AT);
    if (this.#handle.read(header, { at: 0 }) < CONTENT_AT) return undefined;
    const length = header.readUInt16LE(CHECKED_AT + 8);
    const checked = header.subarray(CHECKED_AT, PATH_AT + length);
    const isWhole =
      MAGIC.compare(header, 0, MAGIC.length) === 0 &&
      crc32(checked) === header.readUInt32LE(MAGIC.length);
    if (!isWhole) return undefined;
    const generation = Number(header.readBigUInt64LE(CHECKED_AT));
    return { path: header.toString("utf8", PATH_AT, PATH_AT + length), generation };
  }

  /** Durable when it returns. @throws FileError ENOSPC */
  setName({ path, generation }: FileName): void {
    const bytes = Buffer.from(path);
    if (bytes.length > PATH_BYTES_MAX) throw new FileError("ENAMETOOLONG", path);
    const header = Buffer.alloc(CONTENT_AT);
    header.set(MAGIC);
    header.writeBigUInt64LE(BigInt(generation), CHECKED_AT);
    header.writeUInt16LE(bytes.length, CHECKED_AT + 8);
    header.set(bytes, PATH_AT);
    const checked = header.subarray(CHECKED_AT, PATH_AT + bytes.length);
    header.writeUInt32LE(crc32(checked), MAGIC.length);
    this.#write(header, 0);
    this.#handle.flush();
  }

  /** Durable when it returns; the content stays until the file gets another name. */
  clearName(): void {
    this.#write(new Uint8Array(CHECKED_AT), 0);
    this.#handle.flush();
  }

  /** Without name and content. */
  clear(): void {
    this.#handle.truncate(0);
  }

  size(): number {
    return Math.max(0, this.#handle.getSize() - CONTENT_AT);
  }

  read(into: Uint8Array, position: number): number {
    return this.#handle.read(into, { at: CONTENT_AT + position });
  }

  write(bytes: Uint8Array, position: number): void {
    this.#write(bytes, CONTENT_AT + position);
  }

  truncate(size: number): void {
    this.#handle.truncate(CONTENT_AT + size);
  }

  sync(): void {
    this.#handle.flush();
  }

  /** The content is not needed any more. */
  close(): void {
    this.#onFree(this);
  }

  /** Lets another thread open the file. */
  release(): void {
    this.#handle.close();
  }

  #write(bytes: Uint8Array, at: number): void {
    let written = 0;
    try {
      written = this.#handle.write(bytes, { at });
    } catch (cause) {
      if (!isQuotaExceeded(cause)) throw cause;
    }
    if (written < bytes.length) throw new FileError("ENOSPC", "the quota of the origin is used up");
  }
}

function isQuotaExceeded(error: unknown): boolean {
  return error instanceof Error && error.name === "QuotaExceededError";
}
