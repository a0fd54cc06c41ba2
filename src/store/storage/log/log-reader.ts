import { NodeError } from "../../../base/errors.ts";
import type { LogFile } from "./log-file.ts";
import {
  RECORD_HEADER_LENGTH,
  readRecord,
  readRecordInParts,
  SEGMENT_HEADER_LENGTH,
  scanRecords,
} from "./log-segment.ts";

/** The block log is damaged: bytes differ from what was written. */
export class LogCorruptionError extends NodeError {
  readonly code = "STORE_CORRUPT_LOG";
  constructor(details: { readonly position: number; readonly reason: string }, options?: ErrorOptions) {
    super(`block log is damaged at position ${details.position}: ${details.reason}`, details, options);
  }
}

export type LogRecord = {
  readonly position: number;
  readonly payload: Uint8Array;
  /** position after the record */
  readonly end: number;
};

export type Segment = {
  readonly base: number;
  readonly salt: number;
  readonly file: LogFile;
  size: number;
};

/** Reads the records of the segments it is given. */
export class LogReader {
  protected readonly segments: Segment[] = [];

  /** Position after the last record. */
  get end(): number {
    const last = this.segments.at(-1);
    return last === undefined ? 0 : last.base + last.size;
  }

  /** Position of the first segment: above 0 where older ones were removed. */
  get start(): number {
    return this.segments[0]?.base ?? 0;
  }

  /** The first record; undefined while the log is empty. @throws LogCorruptionError */
  first(): LogRecord | undefined {
    const position = this.start + SEGMENT_HEADER_LENGTH;
    return this.end <= position ? undefined : this.record(position);
  }

  /**
   * The record at `position`.
   * @throws LogCorruptionError
   */
  record(position: number): LogRecord {
    return recordOf(position, this.#payloadAt(position)) ?? throwDamaged(position);
  }

  /** `record` with a pause after each megabyte. @throws LogCorruptionError */
  *recordInParts(position: number): Generator<void, LogRecord> {
    const segment = this.segmentAt(position);
    const payload = segment && (yield* readRecordInParts(segment.file, segment.salt, position - segment.base));
    return recordOf(position, payload) ?? throwDamaged(position);
  }

  /** The undamaged record at `position`, if there is one. */
  recordAt(position: number): LogRecord | undefined {
    return recordOf(position, this.#payloadAt(position));
  }

  /** Position of byte `offset` in the payload of the record at `position`. */
  static payloadPosition(position: number, offset: number): number {
    return position + RECORD_HEADER_LENGTH + offset;
  }

  /** Bytes from `position` as they are, unverified; at most `length`, fewer at the end of a segment. */
  read(position: number, length: number): Buffer {
    const segment = this.segmentAt(position);
    const bytes = Buffer.allocUnsafe(length);
    if (segment === undefined) return bytes.subarray(0, 0);
    return bytes.subarray(0, segment.file.read(bytes, position - segment.base));
  }

  /**
   * Records from `position` on, which must be that of a record, 0, or the end.
   * @throws LogCorruptionError
   */
  *records(position = 0): Generator<LogRecord> {
    for (const { base, salt, file, size } of this.segments) {
      if (base + size <= position) continue;
      const from = Math.max(SEGMENT_HEADER_LENGTH, position - base);
      for (const { offset, payload, next } of scanRecords(file, salt, from, size)) {
        if (payload === undefined) {
          throw new LogCorruptionError({ position: base + offset, reason: "damaged record" });
        }
        yield { position: base + offset, payload, end: base + next };
      }
    }
  }

  #payloadAt(position: number): Buffer | undefined {
    const segment = this.segmentAt(position);
    return segment && readRecord(segment.file, segment.salt, position - segment.base);
  }

  /** The segment that holds byte `position`, which is read then. */
  protected segmentAt(position: number): Segment | undefined {
    let low = 0;
    let high = this.segments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.segments[middle]!.base <= position) low = middle + 1;
      else high = middle;
    }
    const segment = this.segments[low - 1];
    return segment !== undefined && position < segment.base + segment.size ? segment : undefined;
  }
}

function recordOf(position: number, payload: Buffer | undefined): LogRecord | undefined {
  if (payload === undefined) return undefined;
  return { position, payload, end: position + RECORD_HEADER_LENGTH + payload.length };
}

function throwDamaged(position: number): never {
  throw new LogCorruptionError({ position, reason: "no undamaged record begins here" });
}
