import { crc32 } from "node:zlib";
import type { LogFile } from "./log-file.ts";

/**
 * One file of the block log.
 *
 *     segment   magic 6 "EVMLOG" ‖ format u16 ‖ base u64 ‖ salt u32 ‖ crc32 of these 20 bytes ‖ record*
 *     record    marker 4 ‖ length u32 ‖ crc32 of payload and length, begun with the salt ‖ payload
 *
 * Integers are little-endian. A position in the log counts the bytes of all segments as if they were
 * one file; `base` is the position of the segment's first byte and names the file. The salt keeps
 * anybody who can put bytes into a payload from putting a valid record there.
 */
export type SegmentHeader = {
  readonly format: number;
  readonly base: number;
  readonly salt: number;
};

export const SEGMENT_HEADER_LENGTH = 24;
export const RECORD_HEADER_LENGTH = 12;

const MAGIC = Buffer.from("EVMLOG");
const MARKER = Buffer.from([0xe7, 0xb1, 0x0c, 0x5a]);
const SCAN_WINDOW_BYTES = 1 << 20;

export function segmentName(base: number): string {
  return `${base.toString().padStart(16, "0")}.log`;
}

/** The base that a file name gives; undefined when it is not the name of a segment. */
export function segmentBase(name: string): number | undefined {
  return /^\d{16}\.log$/.test(name) ? Number(name.slice(0, 16)) : undefined;
}

export function encodeSegmentHeader({ format, base, salt }: SegmentHeader): Uint8Array {
  const bytes = Buffer.alloc(SEGMENT_HEADER_LENGTH);
  bytes.set(MAGIC);
  bytes.writeUInt16LE(format, 6);
  bytes.writeBigUInt64LE(BigInt(base), 8);
  bytes.writeUInt32LE(salt, 16);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 20)), 20);
  return bytes;
}

/** undefined when the file does not begin with a whole and undamaged header. */
export function readSegmentHeader(file: LogFile): SegmentHeader | undefined {
  const bytes = Buffer.alloc(SEGMENT_HEADER_LENGTH);
  if (file.read(bytes, 0) < SEGMENT_HEADER_LENGTH) return undefined;
  if (!bytes.subarray(0, 6).equals(MAGIC)) return undefined;
  if (bytes.readUInt32LE(20) !== crc32(bytes.subarray(0, 20))) return undefined;
  return {
    format: bytes.readUInt16LE(6),
    base: Number(bytes.readBigUInt64LE(8)),
    salt: bytes.readUInt32LE(16),
  };
}

/** `payload` as a whole record. */
export function encodeRecord(payload: Uint8Array, salt: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(RECORD_HEADER_LENGTH + payload.length);
  bytes.set(MARKER);
  bytes.writeUInt32LE(payload.length, 4);
  bytes.set(payload, RECORD_HEADER_LENGTH);
  bytes.writeUInt32LE(checksum(bytes.subarray(4, 8), payload, salt), 8);
  return bytes;
}

export type ScannedRecord = {
  /** of the record in its file */
  readonly offset: number;
  /** of the next record */
  readonly next: number;
  /** undefined: the bytes here are no undamaged record, and the scan ends */
  readonly payload: Buffer | undefined;
};

/** Walks the records of a segment from `offset` to `end`; the first damaged one is the last yielded. */
export function* scanRecords(file: LogFile, salt: number, offset: number, end: number): Generator<ScannedRecord> {
  let window = Buffer.alloc(0);
  let windowAt = offset;
  let at = offset;
  const have = (length: number): boolean => {
    if (at + length <= windowAt + window.length) return true;
    if (at + length > end) return false;
    window = Buffer.allocUnsafe(Math.min(Math.max(SCAN_WINDOW_BYTES, length), end - at));
    windowAt = at;
    return file.read(window, at) === window.length;
  };
  while (at < end) {
    let payload: Buffer | undefined;
    if (have(RECORD_HEADER_LENGTH)) {
      const length = window.readUInt32LE(at - windowAt + 4);
      if (have(RECORD_HEADER_LENGTH + length)) {
        payload = recordPayload(window.subarray(at - windowAt), length, salt);
      }
    }
    const next = at + RECORD_HEADER_LENGTH + (payload?.length ?? 0);
    yield { offset: at, next, payload };
    if (payload === undefined) return;
    at = next;
  }
}

/** The undamaged record at `offset`, read alone. */
export function readRecord(file: LogFile, salt: number, offset: number): Buffer | undefined {
  const header = Buffer.allocUnsafe(RECORD_HEADER_LENGTH);
  if (file.read(header, offset) < RECORD_HEADER_LENGTH) return undefined;
  const length = header.readUInt32LE(4);
  if (offset + RECORD_HEADER_LENGTH + length > file.size()) return undefined;
  const bytes = Buffer.allocUnsafe(RECORD_HEADER_LENGTH + length);
  if (file.read(bytes, offset) < bytes.length) return undefined;
  return recordPayload(bytes, length, salt);
}

/** Offset of the first undamaged record at or after `offset`; undefined when there is none. */
export function findRecord(file: LogFile, salt: number, offset: number, end: number): number | undefined {
  const window = Buffer.allocUnsafe(SCAN_WINDOW_BYTES);
  // Windows overlap, so that a marker on the border of one is whole in the next.
  for (let at = offset; at < end; at += SCAN_WINDOW_BYTES - MARKER.length + 1) {
    const filled = window.subarray(0, file.read(window, at));
    for (let i = filled.indexOf(MARKER); i >= 0; i = filled.indexOf(MARKER, i + 1)) {
      if (readRecord(file, salt, at + i) !== undefined) return at + i;
    }
  }
  return undefined;
}

function recordPayload(bytes: Buffer, length: number, salt: number): Buffer | undefined {
  if (MARKER.compare(bytes, 0, MARKER.length) !== 0) return undefined;
  const payload = bytes.subarray(RECORD_HEADER_LENGTH, RECORD_HEADER_LENGTH + length);
  const expected = bytes.readUInt32LE(8);
  return checksum(bytes.subarray(4, 8), payload, salt) === expected ? payload : undefined;
}

function checksum(length: Uint8Array, payload: Uint8Array, salt: number): number {
  // The length goes last: given no bytes at all, crc32 forgets what it was to continue.
  return crc32(length, payload.length === 0 ? salt : crc32(payload, salt));
}
