import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { NodeError } from "../../base/errors.ts";
import { decodeHeader, decodePrefix } from "../../chain/records/block-record.ts";
import { newestStateFile } from "../../chain/store/retention/state-file.ts";
import {
  type LogDirectory,
  type LogFile,
  openLogDirectory,
  openLogDirectoryReadOnly,
} from "../../store/storage/log/log-file.ts";
import { LogCorruptionError } from "../../store/storage/log/log-reader.ts";
import {
  findRecord,
  readRecord,
  readSegmentHeader,
  SEGMENT_HEADER_LENGTH,
  type SegmentHeader,
  scanRecords,
  segmentBase,
} from "../../store/storage/log/log-segment.ts";
import { assertKnownFormat, LOG_FORMAT } from "../../store/storage/schema.ts";
import type { BlockName, Manifest, StoredFile, StoredSegment, StoredState } from "./manifest.ts";

/** Folder of the log in a backup. */
export const STORED_LOG_FOLDER = "log";
/** Bytes to read, write and hash before other work of the process gets its turn. */
const CHUNK_BYTES = 4 << 20;
/** During one copy, the node removes segments or its newest blocks a few times at most. */
const ATTEMPTS_MAX = 5;

/** The log changed other than by appending during the copy. */
class LogMovedError extends NodeError {
  readonly code = "BACKUP_LOG_MOVED";
}

/** The home has no chain to copy. */
class NothingToBackUpError extends NodeError {
  readonly code = "BACKUP_NOTHING";
}

export type LogCopy = Pick<Manifest, "log" | "states" | "head"> & {
  /** Bytes that this run copied. */
  readonly copiedBytes: number;
};

type LogCopyOptions = {
  /** The log; a node may be writing it. */
  readonly source: string;
  /** Folder of the backup. */
  readonly directory: string;
  readonly previous: Manifest | undefined;
  /** Called with the bytes of the log read so far, and the total. */
  readonly onProgress: (done: number, total: number) => void;
};

/**
 * Copies the part of a block log that the last backup lacks, up to the last complete record. Then reads the copy again and verifies the
 * checksums of records and that each block follows its parent. Files of the last backup are kept or appended to; if the log changed otherwise,
 * the copy begins a new file.
 * @throws NothingToBackUpError, LogMovedError, LogCorruptionError, UnknownFormatError
 */
export async function copyLog(options: LogCopyOptions): Promise<LogCopy> {
  if (!existsSync(options.source)) throw nothing(options.source);
  for (let attempt = 1; ; attempt++) {
    try {
      return await new LogCopier(options).run();
    } catch (error) {
      const isMoved = error instanceof LogMovedError || (error as NodeJS.ErrnoException).code === "ENOENT";
      if (!isMoved || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

type SourceSegment = { readonly name: string; readonly base: number; readonly isLast: boolean; readonly end: number };

class LogCopier {
  readonly #options: LogCopyOptions;
  readonly #source: Pick<LogDirectory, "list" | "open">;
  readonly #target: LogDirectory;
  #tip: BlockName | undefined;
  #readBytes = 0;
  #totalBytes = 0;
  #copiedBytes = 0;

  constructor(options: LogCopyOptions) {
    this.#options = options;
    this.#source = openLogDirectoryReadOnly(options.source);
    this.#target = openLogDirectory(join(options.directory, STORED_LOG_FOLDER));
  }

  async run(): Promise<LogCopy> {
    const segments = this.#list();
    this.#totalBytes = segments.reduce((sum, { end }) => sum + end, 0);
    const log: StoredSegment[] = [];
    for (const segment of segments) {
      const stored = await this.#copySegment(segment);
      if (stored === undefined) continue;
      this.#tip = stored.tip;
      log.push(stored);
    }
    const head = this.#tip;
    if (head === undefined) throw nothing(this.#options.source);
    const states = await this.#copyState(log[0]!);
    this.#target.sync();
    return { log, states, head, copiedBytes: this.#copiedBytes };
  }

  /** Segments from the first to the last. */
  #list(): SourceSegment[] {
    const names = this.#source.list().filter((name) => segmentBase(name) !== undefined);
    return names.map((name, i) => {
      const base = segmentBase(name)!;
      const next = names[i + 1];
      if (next !== undefined) return { name, base, isLast: false, end: segmentBase(next)! - base };
      const file = this.#source.open(name);
      try {
        return { name, base, isLast: true, end: file.size() };
      } finally {
        file.close();
      }
    });
  }

  /** undefined for a segment that the log has just begun and that has no record yet. */
  async #copySegment(segment: SourceSegment): Promise<StoredSegment | undefined> {
    const source = this.#source.open(segment.name);
    try {
      const header = readSegmentHeader(source);
      if (header === undefined && segment.isLast) return undefined;
      if (header === undefined || header.base !== segment.base) {
        throw new LogCorruptionError({ position: segment.base, reason: "damaged segment header" });
      }
      assertKnownFormat("block log", header.format, LOG_FORMAT);
      const known = this.#options.previous?.log.find(({ name }) => name === segment.name);
      const isSame = known !== undefined && this.#isContinued(known, source, segment.end);
      if (isSame && known.bytes === segment.end) return this.#keep(known, header);
      const name = isSame ? fileNameOf(known) : this.#freeName(segment.name);
      const target = this.#target.open(name);
      try {
        return await this.#append(segment, { source, header, target, name, known: isSame ? known : undefined });
      } finally {
        target.close();
      }
    } finally {
      source.close();
    }
  }

  /** Whether the stored segment's bytes are a prefix of the source: equal records at one position imply equal blocks before it. */
  #isContinued(known: StoredSegment, source: LogFile, end: number): boolean {
    if (known.bytes > end || !this.#target.list().includes(fileNameOf(known))) return false;
    const target = this.#target.open(fileNameOf(known));
    try {
      if (target.size() < known.bytes) return false;
      return [
        [0, SEGMENT_HEADER_LENGTH],
        [known.tipAt, known.bytes],
      ].every(([from, to]) => bytesOf(source, from!, to!).equals(bytesOf(target, from!, to!)));
    } finally {
      target.close();
    }
  }

  /** Keeps a segment that the last backup has completely. */
  #keep(known: StoredSegment, { salt }: SegmentHeader): StoredSegment {
    const target = this.#target.open(fileNameOf(known));
    try {
      const first = readRecord(target, salt, SEGMENT_HEADER_LENGTH);
      if (first === undefined) throw damaged(known.stored);
      this.#assertFollows(first, this.#tip);
    } finally {
      target.close();
    }
    this.#progress(known.bytes);
    return known;
  }

  async #append(
    segment: SourceSegment,
    copy: {
      readonly source: LogFile;
      readonly header: SegmentHeader;
      readonly target: LogFile;
      readonly name: string;
      readonly known: StoredSegment | undefined;
    },
  ): Promise<StoredSegment | undefined> {
    const { source, header, target, name, known } = copy;
    const from = known?.bytes ?? 0;
    target.truncate(from);
    this.#progress(from);
    await this.#copyBytes(source, target, from, segment.end);
    const found = this.#readRecords(segment, header, target, known);
    if (found === undefined) return undefined;
    target.truncate(found.bytes);
    target.sync();
    this.#copiedBytes += found.bytes - from;
    return { ...found, name: segment.name, stored: storedPath(name), sha256: await sha256Of(target, found.bytes) };
  }

  async #copyBytes(source: LogFile, target: LogFile, from: number, end: number): Promise<void> {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let at = from; at < end; ) {
      const filled = chunk.subarray(0, source.read(chunk.subarray(0, Math.min(CHUNK_BYTES, end - at)), at));
      if (filled.length === 0) throw new LogMovedError("the log shrank during the copy");
      target.write(filled, at);
      at += filled.length;
      this.#progress(filled.length);
      await setImmediate();
    }
  }

  /** Reads the copy record by record. @returns the end of its complete records, and its first and last block */
  #readRecords(
    segment: SourceSegment,
    { salt }: SegmentHeader,
    target: LogFile,
    known: StoredSegment | undefined,
  ): Pick<StoredSegment, "bytes" | "first" | "tip" | "tipAt"> | undefined {
    let {
      first,
      tip = this.#tip,
      tipAt,
      bytes,
    }: Partial<StoredSegment> & { bytes: number } = known ?? {
      bytes: SEGMENT_HEADER_LENGTH,
    };
    for (const { offset, next, payload } of scanRecords(target, salt, bytes, segment.end)) {
      if (payload === undefined) {
        const hasMore = findRecord(target, salt, offset + 1, segment.end) !== undefined;
        // Only the newest record of the log may be unfinished. Elsewhere, the log changed during the read or is damaged.
        if (!segment.isLast || hasMore) throw damaged(segment.name);
        break;
      }
      tip = this.#assertFollows(payload, tip);
      first ??= tip.number;
      tipAt = offset;
      bytes = next;
    }
    return first === undefined || tip === undefined || tipAt === undefined ? undefined : { bytes, first, tip, tipAt };
  }

  /** The block of a record, which must follow `tip`. */
  #assertFollows(payload: Buffer, tip: BlockName | undefined): BlockName {
    const { number, hash } = decodePrefix(payload);
    if (tip !== undefined && (number !== tip.number + 1 || decodeHeader(payload).parentHash !== tip.hash)) {
      throw new LogMovedError(
        `block ${number} does not follow block ${tip.number}: the chain was rolled back during the copy`,
      );
    }
    return { number, hash };
  }

  /** Copies the newest complete state file, without which a pruned log is useless. */
  async #copyState(firstSegment: StoredSegment): Promise<readonly StoredState[]> {
    const newest = newestStateFile(this.#source);
    if (newest === undefined) return [];
    // The log may be pruned between the two copies. The state must belong to a block in the copy.
    if (newest.number < firstSegment.first) throw new LogMovedError("the log was pruned during the copy");
    const { name, number, bytes } = newest;
    const source = this.#source.open(name);
    try {
      const known = this.#options.previous?.states.find((state) => state.name === name && state.bytes === bytes);
      if (known !== undefined && this.#isSameState(known, source)) return [known];
      const stored = this.#freeName(name);
      const target = this.#target.open(stored);
      try {
        await this.#copyBytes(source, target, 0, bytes);
        target.sync();
        const { salt } = readSegmentHeader(target) ?? {};
        if (salt === undefined) throw damaged(name);
        for (const { payload } of scanRecords(target, salt, SEGMENT_HEADER_LENGTH, bytes)) {
          if (payload === undefined) throw damaged(name);
        }
        this.#copiedBytes += bytes;
        return [{ name, number, bytes, stored: storedPath(stored), sha256: await sha256Of(target, bytes) }];
      } finally {
        target.close();
      }
    } finally {
      source.close();
    }
  }

  #isSameState(known: StoredState, source: LogFile): boolean {
    if (!this.#target.list().includes(fileNameOf(known))) return false;
    const target = this.#target.open(fileNameOf(known));
    try {
      // The header has a random salt.
      const [ours, theirs] = [source, target].map((file) => bytesOf(file, 0, SEGMENT_HEADER_LENGTH));
      return target.size() >= known.bytes && ours!.equals(theirs!);
    } finally {
      target.close();
    }
  }

  /** A file name that the last backup does not use. */
  #freeName(name: string): string {
    const used = new Set(
      [...(this.#options.previous?.log ?? []), ...(this.#options.previous?.states ?? [])].map(fileNameOf),
    );
    for (let i = 0; ; i++) {
      const free = `${name}.${i}`;
      if (!used.has(free)) return free;
    }
  }

  #progress(bytes: number): void {
    this.#readBytes += bytes;
    this.#options.onProgress(this.#readBytes, this.#totalBytes);
  }
}

function nothing(folder: string): NothingToBackUpError {
  return new NothingToBackUpError(`no blocks in ${folder}: nothing to back up`, { folder });
}

function damaged(name: string): LogMovedError {
  return new LogMovedError(`a record of ${name} is damaged, or changed during the copy`, { name });
}

function storedPath(name: string): string {
  return `${STORED_LOG_FOLDER}/${name}`;
}

function fileNameOf({ stored }: StoredFile): string {
  return stored.slice(STORED_LOG_FOLDER.length + 1);
}

/** Bytes `from` to `to` of a file; fewer if the file ends before. */
function bytesOf(file: LogFile, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, to - from));
  return bytes.subarray(0, file.read(bytes, from));
}

/** SHA-256 of the first `length` bytes, in hex. @throws LogMovedError if the file is shorter */
async function sha256Of(file: LogFile, length: number): Promise<string> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let at = 0; at < length; ) {
    const filled = chunk.subarray(0, file.read(chunk.subarray(0, Math.min(CHUNK_BYTES, length - at)), at));
    if (filled.length === 0) throw new LogMovedError("a file of the backup is too short");
    hash.update(filled);
    at += filled.length;
    await setImmediate();
  }
  return hash.digest("hex");
}
