import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { syncDirectory } from "./make-folder.ts";

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

/** Makes the file at `path`, whose directory must exist, unless there is one. A crash leaves none or the whole one; when it returns, it is durable. */
export function createFile(path: string, content: string | Uint8Array, mode: number): void {
  if (!existsSync(path)) replaceFile(path, content, mode);
}

const CHUNK_BYTES = 1 << 20;

/** crc32 of each MiB of the file at `path`, u32 little-endian, after the size of the file as u64. */
export function fileSums(path: string): Buffer {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const sums = Buffer.alloc(8 + Math.ceil(size / CHUNK_BYTES) * 4);
    sums.writeBigUInt64LE(BigInt(size));
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let at = 0, sum = 8; at < size; at += CHUNK_BYTES, sum += 4) {
      const length = readSync(fd, chunk, 0, CHUNK_BYTES, at);
      sums.writeUInt32LE(crc32(chunk.subarray(0, length)), sum);
    }
    return sums;
  } finally {
    closeSync(fd);
  }
}
