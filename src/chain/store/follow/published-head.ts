import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { InvariantError } from "../../../base/errors.ts";

/** A store that other threads of this process, or other processes, can follow. Plain data. */
export type FollowedStore = {
  readonly directory: string;
  /** `PublishedHead.buffer` of the store for a thread, the path of its `HeadFile` for a process. */
  readonly head: SharedArrayBuffer | string;
};

/** Where a follower reads how far the store has come. */
export type HeadSource = {
  /** The same object until something else is published. */
  read(): HeadPosition;
  close(): void;
};

/** How far a store has come, for readers in other threads and processes. */
export type HeadPosition = {
  /** Two more after each rollback: what was read before one may be of blocks that are gone. Odd while blocks are removed. */
  readonly epoch: number;
  /** Of the newest block; −1 while the store is empty. */
  readonly number: number;
  /** Log position after its record. */
  readonly end: number;
  /** Log position of its oldest segment: what is before it was removed. */
  readonly logStart: number;
  /** Blocks from block 0 whose changes are all in rows. */
  readonly mergedBlocks: number;
  /** Numbers of the oldest block that is served, and of the oldest block whose state is. */
  readonly base: number;
  readonly stateBase: number;
};

/** The order of the values wherever they are published. */
const FIELDS = [
  "epoch",
  "number",
  "end",
  "mergedBlocks",
  "base",
  "stateBase",
  "logStart",
] as const satisfies readonly (keyof HeadPosition)[];

/** @param valueAt of field number `index` */
function headOf(valueAt: (index: number) => number): HeadPosition {
  return Object.fromEntries(FIELDS.map((field, i) => [field, valueAt(i)])) as HeadPosition;
}

/** In the shared array, after the fields: odd while the writer changes them. */
const VERSION = FIELDS.length;

/**
 * A `HeadPosition` in shared memory: the thread that writes the store publishes, any thread reads. A thread that got a message from
 * the writer reads at least what was published before it was sent.
 */
export class PublishedHead implements HeadSource {
  readonly buffer: SharedArrayBuffer;
  readonly #values: BigInt64Array;
  #read: { readonly version: bigint; readonly head: HeadPosition } | undefined;

  /** @param buffer of the writer's */
  constructor(buffer = new SharedArrayBuffer((FIELDS.length + 1) * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#values = new BigInt64Array(buffer);
  }

  publish(head: HeadPosition): void {
    const values = this.#values;
    Atomics.add(values, VERSION, 1n);
    for (const [i, field] of FIELDS.entries()) Atomics.store(values, i, BigInt(head[field]));
    Atomics.add(values, VERSION, 1n);
  }

  read(): HeadPosition {
    const values = this.#values;
    for (;;) {
      const version = Atomics.load(values, VERSION);
      if (this.#read?.version === version) return this.#read.head;
      const head = headOf((i) => Number(Atomics.load(values, i)));
      if (version % 2n !== 0n || Atomics.load(values, VERSION) !== version) continue;
      this.#read = { version, head };
      return head;
    }
  }

  close(): void {}
}

/** Doubles of the file: the fields, then a sum that a half-written head does not have. */
const FILE_LENGTH = FIELDS.length + 1;
const SUM = FIELDS.length;
/** A reader meets a half-written head for less than a microsecond. */
const TORN_READS_MAX = 100_000;

/**
 * A `HeadPosition` in a file of 64 bytes, for readers in other processes: one writes, any process reads. A read costs 1 µs, and sees
 * what the last `publish` wrote as soon as it has returned: both go through the same page of the system's cache.
 */
export class HeadFile implements HeadSource {
  readonly #file: number;
  readonly #values = new Float64Array(FILE_LENGTH);
  readonly #bytes = new Uint8Array(this.#values.buffer);
  /** As it was returned last, and the values it was made of. */
  #head: HeadPosition | undefined;
  readonly #headValues = new Float64Array(FILE_LENGTH);

  private constructor(file: number) {
    this.#file = file;
  }

  /** Makes the file, or empties the one of an earlier process. */
  static create(path: string): HeadFile {
    return new HeadFile(openSync(path, "w+", 0o600));
  }

  static open(path: string): HeadFile {
    return new HeadFile(openSync(path, "r"));
  }

  /** @throws Error of the operating system: readers go on seeing the head before */
  publish(head: HeadPosition): void {
    const values = this.#values;
    for (const [i, field] of FIELDS.entries()) values[i] = head[field];
    values[SUM] = sumOf(values);
    writeSync(this.#file, this.#bytes, 0, this.#bytes.length, 0);
  }

  read(): HeadPosition {
    const values = this.#values;
    for (let attempt = 0; attempt < TORN_READS_MAX; attempt++) {
      const length = readSync(this.#file, this.#bytes, 0, this.#bytes.length, 0);
      if (length !== this.#bytes.length) continue;
      if (this.#head !== undefined && hasSameValues(values, this.#headValues)) return this.#head;
      if (values[SUM] !== sumOf(values)) continue;
      this.#headValues.set(values);
      this.#head = headOf((i) => values[i]!);
      return this.#head;
    }
    throw new InvariantError("the published head must be whole");
  }

  close(): void {
    closeSync(this.#file);
  }
}

const SUM_FACTORS = [3, 5, 7, 11, 13, 17, 19];

/** Exact: every value is far below 2^48. */
function sumOf(values: Float64Array): number {
  let sum = 1;
  for (let i = 0; i < SUM; i++) sum += values[i]! * SUM_FACTORS[i]!;
  return sum;
}

function hasSameValues(values: Float64Array, others: Float64Array): boolean {
  for (let i = 0; i < FILE_LENGTH; i++) if (values[i] !== others[i]) return false;
  return true;
}

/** The source that `followed` names. */
export function openHeadSource({ head }: FollowedStore): HeadSource {
  return typeof head === "string" ? HeadFile.open(head) : new PublishedHead(head);
}

/** Publishes how far a store has come, to threads of this process and, where a file is given, to other processes. */
export class HeadPublisher {
  readonly #shared = new PublishedHead();
  #file: HeadFile | undefined;
  #onFileFailure: (error: unknown) => void = () => {};

  /** Of the shared head. */
  get buffer(): SharedArrayBuffer {
    return this.#shared.buffer;
  }

  /**
   * Publishes to this file too, from the next call of `publish` on.
   * @param onFailure called once when the file can no longer be written: from then on its readers see an old head
   */
  toFile(path: string, onFailure: (error: unknown) => void): void {
    this.#file = HeadFile.create(path);
    this.#onFileFailure = onFailure;
  }

  publish(position: HeadPosition): void {
    this.#shared.publish(position);
    try {
      this.#file?.publish(position);
    } catch (error) {
      this.close();
      this.#onFileFailure(error);
    }
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }
}
