import { crc32 } from "node:zlib";

/** The call into the runtime costs more than so many bytes: a key, or a short value. */
const SHORT = 48;

/** crc32 of `bytes[start..end)`, the same as zlib's, from 0 to 2^32 - 1. */
export function crc32Of(bytes: Uint8Array, start: number, end: number): number {
  if (end - start <= SHORT) return extendCrc32(0, bytes, start, end);
  return crc32(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
}

/** crc32 of bytes whose own is `sum`, with those of `bytes[start..end)` after them: few, a table takes them one by one. */
export function extendCrc32(sum: number, bytes: Uint8Array, start: number, end: number): number {
  let inverted = ~sum;
  for (let i = start; i < end; i++) inverted = TABLE[(inverted ^ bytes[i]!) & 255]! ^ (inverted >>> 8);
  return ~inverted >>> 0;
}

/** By byte, the polynomial of zlib's crc32 reversed. */
const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  return sum;
});
