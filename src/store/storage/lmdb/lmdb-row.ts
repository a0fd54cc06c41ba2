import { crc32Of, extendCrc32 } from "../crc32.ts";

const NO_VALUE = new Uint8Array(0);

/** A stored value ends in so many bytes: crc32 of value and key, little-endian. */
export const CHECKSUM_LENGTH = 4;

/** Writes the checksum of a row at `offset`. */
export function writeChecksum(key: Uint8Array, value: Uint8Array, out: Uint8Array, offset: number): void {
  const sum = checksum(key, value);
  for (let i = 0; i < CHECKSUM_LENGTH; i++) out[offset + i] = sum >>> (8 * i);
}

/** Writes over a row that it was removed: the checksum of its key, inverted. No value is stored as that. */
export function writeRemoval(key: Uint8Array, out: Uint8Array): void {
  const sum = ~checksum(key, NO_VALUE);
  for (let i = 0; i < CHECKSUM_LENGTH; i++) out[i] = sum >>> (8 * i);
}

/** Whether `stored` says that the row of `key` was removed. */
export function isRemoval(key: Uint8Array, stored: Uint8Array): boolean {
  return stored.length === CHECKSUM_LENGTH && ~checksum(key, NO_VALUE) >>> 0 === checksumAt(stored, 0);
}

/** Whether `stored[start..end)` is a value of the key `key[keyStart..keyEnd)` with its checksum, or a removal. */
export function isLmdbRowIntact(
  key: Uint8Array,
  keyStart: number,
  keyEnd: number,
  stored: Uint8Array,
  start: number,
  end: number,
): boolean {
  const valueEnd = end - CHECKSUM_LENGTH;
  if (valueEnd < start) return false;
  const sum = extendCrc32(crc32Of(stored, start, valueEnd), key, keyStart, keyEnd);
  return sum === checksumAt(stored, valueEnd) || isRemoval(key.subarray(keyStart, keyEnd), stored.subarray(start, end));
}

/** The value that is stored with its checksum, a view; undefined where they do not fit. */
export function verifiedValue(key: Uint8Array, stored: Uint8Array): Uint8Array | undefined {
  const length = stored.length - CHECKSUM_LENGTH;
  if (length < 0) return undefined;
  const value = new Uint8Array(stored.buffer, stored.byteOffset, length);
  return checksum(key, value) === checksumAt(stored, length) ? value : undefined;
}

function checksum(key: Uint8Array, value: Uint8Array): number {
  return extendCrc32(crc32Of(value, 0, value.length), key, 0, key.length);
}

function checksumAt(stored: Uint8Array, offset: number): number {
  return (
    (stored[offset]! | (stored[offset + 1]! << 8) | (stored[offset + 2]! << 16) | (stored[offset + 3]! << 24)) >>> 0
  );
}
