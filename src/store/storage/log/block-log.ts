import { randomInt } from "node:crypto";
import { invariant, NodeError } from "../../../base/errors.ts";
import { assertKnownFormat, LOG_FORMAT } from "../schema.ts";
import type { LogDirectory, LogFile } from "./log-file.ts";
import { LogCorruptionError, LogReader, type LogRecord, type Segment } from "./log-reader.ts";
import {
  encodeRecord,
  encodeSegmentHeader,
  findRecord,
  readSegmentHeader,
  SEGMENT_HEADER_LENGTH,
  scanRecords,
  segmentBase,
  segmentName,
} from "./log-segment.ts";

/** A segment at or above this size is followed by a new one: small enough to be verified at every start. */
const SEGMENT_BYTES_MAX = 64 << 20;

/** The record could not be written; the log is unchanged and the write can be retried. */
export class LogWriteError extends NodeError {
  readonly code = "STORE_LOG_WRITE_FAILED";
}

/**
 * The log takes no more records until it is opened again. After a failed sync the contents of the disk are unknown: the system forgets
 * which pages it could not write, so a second sync would succeed.
 */
export class LogPoisonedError extends NodeError {
  readonly code = "STORE_LOG_POISONED";
}

export type LogCheck = {
  readonly bytes: number;
  readonly faults: readonly { readonly position: number; readonly reason: string }[];
};

export type BlockLogOptions = {
  readonly directory: LogDirectory;
  /** The log is known to have reached this position: a shorter one has lost records. */
  readonly durableEnd?: number;
  /** Records from here on have not been acknowledged: where one of them is damaged, those after it go too. */
  readonly acknowledgedEnd?: number | undefined;
  readonly segmentBytesMax?: number;
  /** LOG_FORMAT if not given; another one is for reading alone. */
  readonly format?: number;
  /** Called by name before and after each step of `append`, for tests that die there. */
  readonly failPoint?: (name: string) => void;
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

/**
 * Format of the log in `directory`; undefined while it has no whole segment.
 */
export function logFormat(directory: LogDirectory): number | undefined {
  const name = directory.list().find((file) => segmentBase(file) !== undefined);
  if (name === undefined) return undefined;
  const file = directory.open(name);
  try {
    return readSegmentHeader(file)?.format;
  } finally {
    file.close();
  }
}

/** Records in the order they were appended, each on disk before `append` returns. */
export class BlockLog extends LogReader {
  readonly #directory: LogDirectory;
  readonly #segmentBytesMax: number;
  readonly #failPoint: (name: string) => void;
  readonly #format: number;
  #poison: Error | undefined;
  /** Bytes of an unfinished record that opening removed. */
  readonly cutBytes: number;

  constructor({
    directory,
    durableEnd = 0,
    acknowledgedEnd = Number.POSITIVE_INFINITY,
    segmentBytesMax = SEGMENT_BYTES_MAX,
    format = LOG_FORMAT,
    failPoint = () => {},
  }: BlockLogOptions) {
    super();
    this.#directory = directory;
    this.#segmentBytesMax = segmentBytesMax;
    this.#failPoint = failPoint;
    this.#format = format;
    try {
      this.#openSegments();
      this.cutBytes = this.#cutTail(durableEnd, acknowledgedEnd);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Has the next record begin a segment, so that all records before it can be dropped.
   * @returns position of the segment
   * @throws LogWriteError, LogPoisonedError
   */
  beginSegment(): number {
    this.#assertUsable();
    return this.#addSegment().base;
  }

  /**
   * Adds a record and returns its position once it is on disk to stay.
   * @throws LogWriteError, LogPoisonedError
   */
  append(payload: Uint8Array): number {
    const { segment, length } = this.#write(payload);
    this.#failPoint("log:sync");
    this.#sync(segment.file);
    this.#failPoint("log:synced");
    segment.size += length;
    return this.end - length;
  }

  /** The same without waiting for the disk: `sync` must follow. @throws LogWriteError, LogPoisonedError */
  appendUnsynced(payload: Uint8Array): number {
    const { segment, length } = this.#write(payload);
    segment.size += length;
    return this.end - length;
  }

  /** Returns when everything appended is on disk to stay. @throws LogPoisonedError */
  sync(): void {
    const last = this.segments.at(-1);
    if (last !== undefined) this.#sync(last.file);
  }

  #assertUsable(): void {
    if (this.#poison === undefined) return;
    throw new LogPoisonedError("block log needs to be opened again", {}, { cause: this.#poison });
  }

  /** Writes a record after the last one. The size of its segment does not include it yet. */
  #write(payload: Uint8Array): { readonly segment: Segment; readonly length: number } {
    this.#assertUsable();
    const last = this.segments.at(-1);
    const segment = last === undefined || last.size >= this.#segmentBytesMax ? this.#addSegment() : last;
    const record = encodeRecord(payload, segment.salt);
    this.#failPoint("log:write");
    try {
      segment.file.write(record, segment.size);
    } catch (error) {
      this.#undo(() => segment.file.truncate(segment.size));
      throw new LogWriteError("block log could not be written", {}, { cause: error });
    }
    return { segment, length: record.length };
  }

  /** Bytes of the segments in which every record is before `position`. */
  bytesBefore(position: number): number {
    const end = this.segments.findLast(({ base }) => base <= position)?.base ?? 0;
    return Math.max(0, end - this.start);
  }

  /**
   * Removes the oldest segment if all its records are before `position`, and returns whether it did. The last segment stays. Removes one
   * segment per call: the system takes some milliseconds for a large file.
   */
  dropSegmentBefore(position: number): boolean {
    const [first, next] = this.segments;
    if (first === undefined || next === undefined || next.base > position) return false;
    first.file.close();
    this.#directory.remove(segmentName(first.base));
    this.segments.shift();
    this.#failPoint("log:drop");
    // Files go from first to last, so that a crash between two leaves a log without holes.
    this.#directory.sync();
    return true;
  }

  /** Forgets the record at `position` and all after it. */
  truncateTo(position: number): void {
    invariant(position <= this.end, "a log must be cut inside its length");
    // Files go from last to first, so that a crash between two leaves a log without holes.
    let isRemoved = false;
    for (let last = this.segments.at(-1); last !== undefined; last = this.segments.at(-1)) {
      if (last.base + SEGMENT_HEADER_LENGTH < position) break;
      last.file.close();
      this.#directory.remove(segmentName(last.base));
      this.segments.pop();
      isRemoved = true;
    }
    if (isRemoved) this.#directory.sync();
    const segment = this.segments.at(-1);
    if (segment === undefined || position >= this.end) return;
    segment.file.truncate(position - segment.base);
    segment.size = position - segment.base;
    this.#sync(segment.file);
  }

  /** Verifies every record and shows it to `visit`; goes on after a damaged one. */
  check(visit: (record: LogRecord) => void = () => {}): LogCheck {
    const faults: { position: number; reason: string }[] = [];
    for (const { base, salt, file, size } of this.segments) {
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
    for (const { file } of this.segments.splice(0)) file.close();
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
      this.segments.push({ base, salt: header?.salt ?? 0, file, size });
      if (header === undefined || header.base !== base) {
        throw new LogCorruptionError({ position: base, reason: "damaged segment header" });
      }
      assertKnownFormat("block log", header.format, this.#format);
      const previous = this.segments.at(-2);
      if (previous !== undefined && base !== previous.base + previous.size) {
        throw new LogCorruptionError({
          position: base,
          reason: "segment before this is not whole",
        });
      }
    }
  }

  #cutTail(durableEnd: number, acknowledgedEnd: number): number {
    const segment = this.segments.at(-1);
    let cut = 0;
    if (segment !== undefined) {
      const { file, salt, base, size } = segment;
      for (const { offset, payload } of scanRecords(file, salt, SEGMENT_HEADER_LENGTH, size)) {
        if (payload !== undefined) continue;
        const position = base + offset;
        const isFollowed = position < acknowledgedEnd && findRecord(file, salt, offset + 1, size) !== undefined;
        if (position < durableEnd || isFollowed) {
          throw new LogCorruptionError({ position, reason: "damaged record" });
        }
        file.truncate(offset);
        file.sync();
        segment.size = offset;
        cut = size - offset;
        break;
      }
    }
    if (this.end < durableEnd) {
      const reason = `records up to position ${durableEnd} are missing`;
      throw new LogCorruptionError({ position: this.end, reason });
    }
    return cut;
  }

  #addSegment(): Segment {
    // The last one ends here, and may hold records that were appended without a sync.
    this.sync();
    const base = this.end;
    const salt = randomInt(2 ** 32);
    let file: LogFile | undefined;
    try {
      file = this.#directory.open(segmentName(base));
      file.truncate(0);
      file.write(encodeSegmentHeader({ format: this.#format, base, salt }), 0);
    } catch (error) {
      file?.close();
      // Opening removes a segment that has no whole header, but only the last one.
      if (file !== undefined) this.#undo(() => this.#directory.remove(segmentName(base)));
      throw new LogWriteError("block log could not begin a segment", {}, { cause: error });
    }
    this.#sync(file);
    this.#failPoint("log:segment");
    this.#directory.sync();
    const segment = { base, salt, file, size: SEGMENT_HEADER_LENGTH };
    this.segments.push(segment);
    return segment;
  }

  #sync(file: LogFile): void {
    try {
      file.sync();
    } catch (error) {
      this.#poison = error as Error;
      throw new LogPoisonedError("block log could not be synced", {}, { cause: error });
    }
  }

  #undo(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#poison = error as Error;
    }
  }
}
