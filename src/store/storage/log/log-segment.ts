import { extendCrc32 } from "../crc32.ts";
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
/** Read and summed in half a millisecond. */
const PART_BYTES = 1 << 20;

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
  bytes.writeUInt32LE(extendCrc32(0, bytes, 0, 20), 20);
  return bytes;
}

/** undefined when the file does not begin with a whole and undamaged header. */
export function readSegmentHeader(file: LogFile): SegmentHeader | undefined {
  const bytes = Buffer.alloc(SEGMENT_HEADER_LENGTH);
  if (file.read(bytes, 0) < SEGMENT_HEADER_LENGTH) return undefined;
  if (!bytes.subarray(0, 6).equals(MAGIC)) return undefined;
  if (bytes.readUInt32LE(20) !== extendCrc32(0, bytes, 0, 20)) return undefined;
  return {
    format: bytes.readUInt16LE(6),
    base: Number(bytes.readBigUInt64LE(8)),
    salt: bytes.readUInt32LE(16),
  };
}

/** `payload` as a whole record. */
export function encodeRecord(payload: Uint8Array, salt: number): Uint8Array {
  const bytes = new Uint8Array(RECORD_HEADER_LENGTH + payload.length);
  // The methods of a Buffer for it go through four functions of Node.js.
  const words = new DataView(bytes.buffer);
  bytes.set(MARKER);
  words.setUint32(4, payload.length, true);
  bytes.set(payload, RECORD_HEADER_LENGTH);
  words.setUint32(8, extendCrc32(continuedSum(payload, salt), bytes, 4, 8), true);
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
  const bytes = bufferOfRecord(file, offset);
  if (bytes === undefined || file.read(bytes, offset) < bytes.length) return undefined;
  return recordPayload(bytes, bytes.length - RECORD_HEADER_LENGTH, salt);
}

/** `readRecord` with a pause after each megabyte: that of block 0 has all of the genesis state. */
export function* readRecordInParts(file: LogFile, salt: number, offset: number): Generator<void, Buffer | undefined> {
  const bytes = bufferOfRecord(file, offset);
  if (bytes === undefined) return undefined;
  let sum = salt;
  for (let at = 0; at < bytes.length; at += PART_BYTES) {
    const part = bytes.subarray(at, at + PART_BYTES);
    if (file.read(part, offset + at) < part.length) return undefined;
    sum = continuedSum(at === 0 ? part.subarray(RECORD_HEADER_LENGTH) : part, sum);
    yield;
  }
  if (!isRecord(bytes, sum)) return undefined;
  return bytes.subarray(RECORD_HEADER_LENGTH);
}

/** For the record that the bytes at `offset` say is there, if the file is long enough for it. */
function bufferOfRecord(file: LogFile, offset: number): Buffer | undefined {
  const header = Buffer.allocUnsafe(RECORD_HEADER_LENGTH);
  if (file.read(header, offset) < RECORD_HEADER_LENGTH) return undefined;
  const length = RECORD_HEADER_LENGTH + header.readUInt32LE(4);
  return offset + length > file.size() ? undefined : Buffer.allocUnsafe(length);
}

/** Offset of the first undamaged record at or after `offset`; undefined if all are damaged. */
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
  const payload = bytes.subarray(RECORD_HEADER_LENGTH, RECORD_HEADER_LENGTH + length);
  return isRecord(bytes, continuedSum(payload, salt)) ? payload : undefined;
}

/** Whether a record begins with the first bytes of `bytes`. @param payloadSum of its payload, begun with the salt */
function isRecord(bytes: Buffer, payloadSum: number): boolean {
  if (MARKER.compare(bytes, 0, MARKER.length) !== 0) return false;
  return extendCrc32(payloadSum, bytes, 4, 8) === bytes.readUInt32LE(8);
}

function continuedSum(bytes: Uint8Array, sum: number): number {
  return extendCrc32(sum, bytes, 0, bytes.length);
}
