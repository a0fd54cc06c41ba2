import { randomInt } from "node:crypto";
import { invariant, NodeError } from "../errors.ts";
import type { LogDirectory, LogFile } from "./log-file.ts";
import {
  encodeRecord,
  encodeSegmentHeader,
  findRecord,
  RECORD_HEADER_LENGTH,
  readRecord,
  readSegmentHeader,
  SEGMENT_HEADER_LENGTH,
  scanRecords,
  segmentBase,
  segmentName,
} from "./log-segment.ts";
import { assertKnownFormat, LOG_FORMAT } from "./schema.ts";

/** A segment at or above this size is followed by a new one: small enough to be verified at every start. */
const SEGMENT_BYTES_MAX = 64 << 20;

/** Bytes of the log that are not what was written, where nothing but damage can explain it. */
export class LogCorruptionError extends NodeError {
  readonly code = "STORE_CORRUPT_LOG";
  constructor(details: { readonly position: number; readonly reason: string }) {
    super(`block log is damaged at position ${details.position}: ${details.reason}`, details);
  }
}

/** The record could not be written; the log is as it was before and may be tried again. */
export class LogWriteError extends NodeError {
  readonly code = "STORE_LOG_WRITE_FAILED";
}

/**
 * The log can take no more records until it is opened again. After a failed sync nobody knows what
 * is on disk: the system forgets which pages it could not write, so a second sync would succeed.
 */
export class LogBrokenError extends NodeError {
  readonly code = "STORE_LOG_BROKEN";
}

export type LogRecord = {
  readonly position: number;
  readonly payload: Buffer;
  /** position behind the record */
  readonly end: number;
};

export type LogCheck = {
  readonly bytes: number;
  readonly faults: readonly { readonly position: number; readonly reason: string }[];
};

export type BlockLogOptions = {
  readonly directory: LogDirectory;
  /** The log is known to have reached this position: a shorter one has lost records. */
  readonly durableEnd?: number;
  readonly segmentBytesMax?: number;
  /** Called by name before and after each step of `append`, for tests that die there. */
  readonly failPoint?: (name: string) => void;
};

type Segment = {
  readonly base: number;
  readonly salt: number;
  readonly file: LogFile;
  size: number;
};

/**
 * Opens the log in `directory` and cuts off a record that was being written when the process or the
 * machine died. A damaged record before an undamaged one, or before `durableEnd`, is not that.
 *
 * @throws LogCorruptionError, UnknownFormatError
 */
export function openBlockLog(options: BlockLogOptions): BlockLog {
  return new BlockLog(options);
}

/** Records in the order they were appended, each on disk before `append` returns. */
export class BlockLog {
  readonly #directory: LogDirectory;
  readonly #segmentBytesMax: number;
  readonly #failPoint: (name: string) => void;
  readonly #segments: Segment[] = [];
  #broken: Error | undefined;
  /** Bytes of an unfinished record that opening removed. */
  readonly cutBytes: number;

  constructor({
    directory,
    durableEnd = 0,
    segmentBytesMax = SEGMENT_BYTES_MAX,
    failPoint = () => {},
  }: BlockLogOptions) {
    this.#directory = directory;
    this.#segmentBytesMax = segmentBytesMax;
    this.#failPoint = failPoint;
    try {
      this.#openSegments();
      this.cutBytes = this.#cutTail(durableEnd);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Position behind the last record. */
  get end(): number {
    const last = this.#segments.at(-1);
    return last === undefined ? 0 : last.base + last.size;
  }

  /**
   * Adds a record and returns its position once it is on disk to stay.
   * @throws LogWriteError, LogBrokenError
   */
  append(payload: Uint8Array): number {
    if (this.#broken !== undefined) {
      throw new LogBrokenError("block log needs to be opened again", {}, { cause: this.#broken });
    }
    const last = this.#segments.at(-1);
    const segment =
      last === undefined || last.size >= this.#segmentBytesMax ? this.#addSegment() : last;
    const record = encodeRecord(payload, segment.salt);
    this.#failPoint("log:write");
    try {
      segment.file.write(record, segment.size);
    } catch (error) {
      this.#undo(() => segment.file.truncate(segment.size));
      throw new LogWriteError("block log could not be written", {}, { cause: error });
    }
    this.#failPoint("log:sync");
    this.#sync(segment.file);
    this.#failPoint("log:synced");
    const position = segment.base + segment.size;
    segment.size += record.length;
    return position;
  }

  /**
   * The record at `position`.
   * @throws LogCorruptionError
   */
  record(position: number): LogRecord {
    const record = this.recordAt(position);
    if (record !== undefined) return record;
    throw new LogCorruptionError({ position, reason: "no undamaged record begins here" });
  }

  /** The undamaged record at `position`, if there is one. */
  recordAt(position: number): LogRecord | undefined {
    const segment = this.#segmentAt(position);
    const payload = segment && readRecord(segment.file, segment.salt, position - segment.base);
    if (payload === undefined) return undefined;
    return { position, payload, end: position + RECORD_HEADER_LENGTH + payload.length };
  }

  /** Position of byte `offset` in the payload of the record at `position`. */
  static payloadPosition(position: number, offset: number): number {
    return position + RECORD_HEADER_LENGTH + offset;
  }

  /** Bytes from `position` as they are, unverified; at most `length`, fewer at the end of a segment. */
  read(position: number, length: number): Buffer {
    const segment = this.#segmentAt(position);
    const bytes = Buffer.allocUnsafe(length);
    if (segment === undefined) return bytes.subarray(0, 0);
    return bytes.subarray(0, segment.file.read(bytes, position - segment.base));
  }

  /**
   * Records from `position` on, which must be that of a record, 0, or the end.
   * @throws LogCorruptionError
   */
  *records(position = 0): Generator<LogRecord> {
    for (const { base, salt, file, size } of this.#segments) {
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

  /** Forgets the record at `position` and all behind it. */
  truncateTo(position: number): void {
    invariant(position <= this.end, "a log must be cut inside its length");
    // Files go from last to first, so that a crash between two leaves a log without holes.
    for (let last = this.#segments.at(-1); last !== undefined; last = this.#segments.at(-1)) {
      if (last.base + SEGMENT_HEADER_LENGTH < position) break;
      last.file.close();
      this.#directory.remove(segmentName(last.base));
      this.#segments.pop();
    }
    this.#directory.sync();
    const segment = this.#segments.at(-1);
    if (segment === undefined || position >= this.end) return;
    segment.file.truncate(position - segment.base);
    segment.size = position - segment.base;
    this.#sync(segment.file);
  }

  /** Verifies every record and shows it to `visit`; goes on behind a damaged one. */
  check(visit: (record: LogRecord) => void = () => {}): LogCheck {
    const faults: { position: number; reason: string }[] = [];
    for (const { base, salt, file, size } of this.#segments) {
      let from: number | undefined = SEGMENT_HEADER_LENGTH;
      while (from !== undefined && from < size) {
        let damaged: number | undefined;
        for (const { offset, payload, next } of scanRecords(file, salt, from, size)) {
          if (payload === undefined) damaged = offset;
          else visit({ position: base + offset, payload, end: base + next });
        }
        if (damaged === undefined) break;
        faults.push({ position: base + damaged, reason: "damaged record" });
        from = findRecord(file, salt, damaged + 1, size);
      }
    }
    return { bytes: this.end, faults };
  }

  close(): void {
    for (const { file } of this.#segments.splice(0)) file.close();
  }

  #openSegments(): void {
    const names = this.#directory.list().filter((name) => segmentBase(name) !== undefined);
    for (const [index, name] of names.entries()) {
      const base = segmentBase(name)!;
      const file = this.#directory.open(name);
      const header = readSegmentHeader(file);
      const size = file.size();
      if (header === undefined && index === names.length - 1 && size <= SEGMENT_HEADER_LENGTH) {
        // The process died while it began this segment: nothing can be in it yet.
        file.close();
        this.#directory.remove(name);
        this.#directory.sync();
        return;
      }
      this.#segments.push({ base, salt: header?.salt ?? 0, file, size });
      if (header === undefined || header.base !== base) {
        throw new LogCorruptionError({ position: base, reason: "damaged segment header" });
      }
      assertKnownFormat("block log", header.format, LOG_FORMAT);
      const previous = this.#segments.at(-2);
      if (base !== (previous === undefined ? 0 : previous.base + previous.size)) {
        throw new LogCorruptionError({
          position: base,
          reason: "segment before this is not whole",
        });
      }
    }
  }

  #cutTail(durableEnd: number): number {
    const segment = this.#segments.at(-1);
    let cut = 0;
    if (segment !== undefined) {
      const { file, salt, base, size } = segment;
      for (const { offset, payload } of scanRecords(file, salt, SEGMENT_HEADER_LENGTH, size)) {
        if (payload !== undefined) continue;
        const position = base + offset;
        if (position < durableEnd || findRecord(file, salt, offset + 1, size) !== undefined) {
          throw new LogCorruptionError({ position, reason: "damaged record" });
        }
        file.truncate(offset);
        file.sync();
        segment.size = offset;
        cut = size - offset;
      }
    }
    if (this.end < durableEnd) {
      const reason = `records up to position ${durableEnd} are missing`;
      throw new LogCorruptionError({ position: this.end, reason });
    }
    return cut;
  }

  #addSegment(): Segment {
    const base = this.end;
    const salt = randomInt(2 ** 32);
    let file: LogFile | undefined;
    try {
      file = this.#directory.open(segmentName(base));
      file.truncate(0);
      file.write(encodeSegmentHeader({ format: LOG_FORMAT, base, salt }), 0);
    } catch (error) {
      // Opening removes a segment that has no whole header, so what is left of this one does no harm.
      file?.close();
      throw new LogWriteError("block log could not begin a segment", {}, { cause: error });
    }
    this.#sync(file);
    this.#failPoint("log:segment");
    this.#directory.sync();
    const segment = { base, salt, file, size: SEGMENT_HEADER_LENGTH };
    this.#segments.push(segment);
    return segment;
  }

  #sync(file: LogFile): void {
    try {
      file.sync();
    } catch (error) {
      this.#broken = error as Error;
      throw new LogBrokenError("block log could not be synced", {}, { cause: error });
    }
  }

  #undo(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#broken = error as Error;
    }
  }

  /** The segment that holds byte `position`. */
  #segmentAt(position: number): Segment | undefined {
    let low = 0;
    let high = this.#segments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#segments[middle]!.base <= position) low = middle + 1;
      else high = middle;
    }
    const segment = this.#segments[low - 1];
    return segment !== undefined && position < segment.base + segment.size ? segment : undefined;
  }
}
