import type { LogDirectory } from "./log-file.ts";
import { LogCorruptionError, LogReader, type LogRecord } from "./log-reader.ts";
import { readSegmentHeader, segmentBase } from "./log-segment.ts";

/** Reads a log that somebody else appends to, up to the published end of complete records. */
export class LogFollower extends LogReader {
  readonly #directory: Pick<LogDirectory, "list" | "open">;
  #reads = 0;

  constructor(directory: Pick<LogDirectory, "list" | "open">) {
    super();
    this.#directory = directory;
  }

  /** Reads of files so far. */
  get reads(): number {
    return this.#reads;
  }

  override read(position: number, length: number): Buffer {
    this.#reads++;
    return super.read(position, length);
  }

  override recordAt(position: number): LogRecord | undefined {
    this.#reads++;
    return super.recordAt(position);
  }

  /**
   * Makes the records before position `end` readable, which the writer must have appended.
   * @throws LogCorruptionError
   */
  extendTo(end: number): void {
    if (end <= this.end) return;
    const last = this.segments.at(-1);
    if (last === undefined || last.base + last.file.size() < end) this.#openSegmentsBefore(end);
    for (const [i, segment] of this.segments.entries()) {
      segment.size = (this.segments[i + 1]?.base ?? end) - segment.base;
    }
  }

  close(): void {
    for (const { file } of this.segments.splice(0)) file.close();
  }

  #openSegmentsBefore(end: number): void {
    const known = this.segments.at(-1)?.base ?? -1;
    for (const name of this.#directory.list()) {
      const base = segmentBase(name);
      if (base === undefined || base <= known || base >= end) continue;
      const file = this.#directory.open(name);
      const header = readSegmentHeader(file);
      if (header === undefined || header.base !== base) {
        file.close();
        throw new LogCorruptionError({ position: base, reason: "damaged segment header" });
      }
      this.segments.push({ base, salt: header.salt, file, size: 0 });
    }
  }
}
