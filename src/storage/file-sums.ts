import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";

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
