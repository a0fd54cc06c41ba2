import { crc32 } from "node:zlib";

/** From so many bytes on zlib is quicker, in spite of the call into the runtime. */
const LONG = 1_024;
/** Bytes that are taken together, with a table for each. */
const STEP = 8;

/** crc32 of `bytes[start..end)`, the same as zlib's, from 0 to 2^32 - 1. */
export function crc32Of(bytes: Uint8Array, start: number, end: number): number {
  return extendCrc32(0, bytes, start, end);
}

/** crc32 of bytes whose own is `sum`, with those of `bytes[start..end)` after them. */
export function extendCrc32(sum: number, bytes: Uint8Array, start: number, end: number): number {
  if (end - start >= LONG) return crc32(bytes.subarray(start, end), sum);
  let rest = ~sum;
  let i = start;
  for (; i + STEP <= end; i += STEP) {
    rest ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    rest =
      TABLES[1792 + (rest & 255)]! ^
      TABLES[1536 + ((rest >>> 8) & 255)]! ^
      TABLES[1280 + ((rest >>> 16) & 255)]! ^
      TABLES[1024 + (rest >>> 24)]! ^
      TABLES[768 + bytes[i + 4]!]! ^
      TABLES[512 + bytes[i + 5]!]! ^
      TABLES[256 + bytes[i + 6]!]! ^
      TABLES[bytes[i + 7]!]!;
  }
  for (; i < end; i++) rest = TABLES[(rest ^ bytes[i]!) & 255]! ^ (rest >>> 8);
  return ~rest >>> 0;
}

/** The sum of each byte with 0 to 7 bytes of 0 after it, 256 by 256: the polynomial of zlib's crc32, reversed. */
const TABLES = makeTables();

function makeTables(): Int32Array {
  const tables = new Int32Array(STEP * 256);
  for (let byte = 0; byte < 256; byte++) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
    tables[byte] = sum;
  }
  for (let i = 256; i < tables.length; i++) {
    const before = tables[i - 256]!;
    tables[i] = tables[before & 255]! ^ (before >>> 8);
  }
  return tables;
}
