import type { LogFile } from "../../../store/storage/log/log-file.ts";
import { Buffer } from "../platform/buffer.ts";
import { FileError } from "../platform/file-tree.ts";
import { crc32 } from "../platform/zlib.ts";
import type { SyncAccessHandle } from "../web.ts";

/**
 * A file of the pool.
 *
 *     slot 0    from byte 0: magic 8 "EVMFILE1" ‖ crc32 of what follows ‖ generation u64 ‖ length of path u16 ‖ path, UTF-8
 *     slot 1    from byte 2048, as slot 0
 *     content   from byte 4096 on
 *
 * Integers are little-endian. A new name overwrites the older slot, so a write that a crash cuts off leaves the previous name. The slot of the
 * higher generation counts; with an empty path, or without a valid slot, the file is free. Of two files with one path, the one of the higher
 * generation has it.
 */
const MAGIC = Buffer.from("EVMFILE1");
const CHECKED_AT = MAGIC.length + 4;
const PATH_AT = CHECKED_AT + 10;
const SLOT_BYTES = 2_048;
const CONTENT_AT = 2 * SLOT_BYTES;
const PATH_BYTES_MAX = SLOT_BYTES - PATH_AT;

export type FileName = { readonly path: string; readonly generation: number };

export class PoolFile implements LogFile {
  readonly #handle: SyncAccessHandle;
  readonly #onFree: (file: PoolFile) => void;

  /** @param onFree called once the content is unused */
  constructor(handle: SyncAccessHandle, onFree: (file: PoolFile) => void) {
    this.#handle = handle;
    this.#onFree = onFree;
  }

  /** undefined: the file is free */
  name(): FileName | undefined {
    const newest = this.#newestSlot();
    if (newest === undefined || newest.path === "") return undefined;
    return { path: newest.path, generation: newest.generation };
  }

  /** Durable when it returns. @param name of a higher generation than the previous one @throws FileError ENAMETOOLONG, ENOSPC */
  setName(name: FileName): void {
    const slot = encodeSlot(name);
    const newest = this.#newestSlot();
    this.#write(slot, newest?.position === 0 ? SLOT_BYTES : 0);
    this.#handle.flush();
  }

  /** Durable when it returns; the content stays until `clear`. */
  clearName(): void {
    const generation = (this.#newestSlot()?.generation ?? 0) + 1;
    this.setName({ path: "", generation });
  }

  /** Removes name and content. */
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

  /** The content is no longer needed. */
  close(): void {
    this.#onFree(this);
  }

  /** Lets another thread open the file. */
  release(): void {
    this.#handle.close();
  }

  #newestSlot(): (FileName & { readonly position: number }) | undefined {
    const header = Buffer.alloc(CONTENT_AT);
    this.#handle.read(header, { at: 0 });
    const slots = [0, SLOT_BYTES].flatMap((position) => {
      const name = decodeSlot(header, position);
      return name ? [{ ...name, position }] : [];
    });
    return slots.sort((a, b) => b.generation - a.generation)[0];
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

/** @throws FileError ENAMETOOLONG */
function encodeSlot({ path, generation }: FileName): Buffer {
  const bytes = Buffer.from(path);
  if (bytes.length > PATH_BYTES_MAX) throw new FileError("ENAMETOOLONG", path);
  const slot = Buffer.alloc(PATH_AT + bytes.length);
  slot.set(MAGIC);
  slot.writeBigUInt64LE(BigInt(generation), CHECKED_AT);
  slot.writeUInt16LE(bytes.length, CHECKED_AT + 8);
  slot.set(bytes, PATH_AT);
  slot.writeUInt32LE(crc32(slot.subarray(CHECKED_AT)), MAGIC.length);
  return slot;
}

/** undefined: nothing, or an incomplete slot, was written there */
function decodeSlot(header: Buffer, position: number): FileName | undefined {
  const [checkedAt, pathAt] = [position + CHECKED_AT, position + PATH_AT];
  const end = pathAt + header.readUInt16LE(checkedAt + 8);
  const isWhole =
    MAGIC.compare(header, position, position + MAGIC.length) === 0 &&
    crc32(header.subarray(checkedAt, end)) === header.readUInt32LE(position + MAGIC.length);
  if (!isWhole) return undefined;
  const generation = Number(header.readBigUInt64LE(checkedAt));
  return { path: header.toString("utf8", pathAt, end), generation };
}

function isQuotaExceeded(error: unknown): boolean {
  return error instanceof Error && error.name === "QuotaExceededError";
}
