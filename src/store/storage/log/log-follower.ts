import type { LogDirectory, LogFile } from "./log-file.ts";
import { LogCorruptionError, LogReader, type Segment } from "./log-reader.ts";
import { readSegmentHeader, segmentBase } from "./log-segment.ts";

/**
 * Reads a log that somebody else appends to, up to the published end of complete records. It holds no file that the writer has removed for longer
 * than to the next call of `dropBefore`: its bytes would stay on the disk.
 */
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

  protected override segmentAt(position: number): Segment | undefined {
    this.#reads++;
    return super.segmentAt(position);
  }

  /**
   * Makes the records before position `end` readable, which the writer must have appended. Where the writer has removed segments that were not open
   * yet, `start` is above what was the end.
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

  /** Closes the segments before the one that begins at `start`, which the writer has removed. */
  dropBefore(start: number): void {
    while (this.segments.length > 0 && this.segments[0]!.base < start) {
      this.segments.shift()!.file.close();
    }
  }

  close(): void {
    for (const { file } of this.segments.splice(0)) file.close();
  }

  #openSegmentsBefore(end: number): void {
    let removed: string | undefined;
    do {
      removed = this.#openListed(end, removed);
    } while (removed !== undefined);
  }

  /**
   * The writer removes segments from the first on, so where one of the list is gone, all before it are: the caller begins with a new list.
   * @param missing a segment that was gone before, and so cannot be in this list
   * @returns the segment that is gone
   */
  #openListed(end: number, missing: string | undefined): string | undefined {
    const known = this.segments.at(-1)?.base ?? -1;
    for (const name of this.#directory.list()) {
      const base = segmentBase(name);
      if (base === undefined || base <= known || base >= end) continue;
      let file: LogFile;
      try {
        file = this.#directory.open(name);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT" || name === missing) throw error;
        this.close();
        return name;
      }
      const header = readSegmentHeader(file);
      if (header === undefined || header.base !== base) {
        file.close();
        throw new LogCorruptionError({ position: base, reason: "damaged segment header" });
      }
      const last = this.segments.at(-1);
      // A hole: what was between is gone, and all before it.
      if (last !== undefined && last.base + last.file.size() !== base) this.close();
      this.segments.push({ base, salt: header.salt, file, size: 0 });
    }
    return undefined;
  }
}
