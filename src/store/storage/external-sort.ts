import { invariant } from "../../base/errors.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import type { LogDirectory, LogFile } from "./log/log-file.ts";
import { byKey } from "./row-order.ts";

/** Memory for the rows that wait to be sorted; a run takes as much again while it is written. A state is loaded with five sorts (load-state.ts). */
const MEMORY_BYTES = 8 << 20;
/** Read of a sorted run at a time. */
const WINDOW_BYTES = 64 << 10;
const LENGTH_BYTES = 4;
/** Files of a sort end with it: a process that dies leaves them. */
const SUFFIX = ".sort";

/** Removes what sorts of a process that died have left. */
export function removeSortFiles(directory: LogDirectory): void {
  for (const name of directory.list()) if (name.endsWith(SUFFIX)) directory.remove(name);
}

/**
 * Sorts more rows than fit in memory: as many as do are sorted and written to a file as a run, and all runs are merged while they are read. Every key has
 * the same length.
 */
export class ExternalSort {
  readonly #directory: LogDirectory;
  readonly #name: string;
  readonly #keyLength: number;
  #keys: Uint8Array;
  #ends: Uint32Array;
  #values: Uint8Array;
  #run = Buffer.alloc(0);
  #count = 0;
  #file: LogFile | undefined;
  /** Where each run ends in the file. */
  readonly #runs: number[] = [];

  /**
   * @param directory where runs go, under `name`
   * @param memoryBytes for the rows that wait
   */
  constructor(directory: LogDirectory, name: string, keyLength: number, memoryBytes = MEMORY_BYTES) {
    const rows = Math.max(1, Math.floor(memoryBytes / 2 / keyLength));
    this.#directory = directory;
    this.#name = `${name}${SUFFIX}`;
    this.#keyLength = keyLength;
    this.#keys = new Uint8Array(rows * keyLength);
    this.#ends = new Uint32Array(rows + 1);
    this.#values = new Uint8Array(memoryBytes / 2);
  }

  /** @param key and value are copied */
  add(key: Uint8Array, value: Uint8Array): void {
    invariant(key.length === this.#keyLength, "every key of a sort must have the same length");
    if ((this.#count + 1) * this.#keyLength > this.#keys.length) this.#spill();
    if (this.#ends[this.#count]! + value.length > this.#values.length) {
      if (this.#count > 0) this.#spill();
      if (value.length > this.#values.length) this.#values = new Uint8Array(value.length);
    }
    const start = this.#ends[this.#count]!;
    this.#keys.set(key, this.#count * this.#keyLength);
    this.#values.set(value, start);
    this.#ends[++this.#count] = start + value.length;
  }

  /** Calls `visit` with each row, in the order of the keys. Both arrays are overwritten afterwards. Nothing is added any more. */
  forEach(visit: (key: Uint8Array, value: Uint8Array) => void): void {
    if (this.#file === undefined) {
      for (const row of this.#order()) visit(this.#key(row), this.#value(row));
      return;
    }
    if (this.#count > 0) this.#spill();
    this.#releaseRows();
    const file = this.#file;
    const starts = [0, ...this.#runs];
    const runs = this.#runs.map((end, i) => new Run(file, starts[i]!, end, this.#keyLength));
    const heap = new RunHeap(runs.filter((run) => run.next()));
    for (let run = heap.first; run !== undefined; run = heap.first) {
      visit(run.key, run.value);
      heap.advance();
    }
  }

  close(): void {
    this.#file?.close();
    if (this.#file !== undefined) this.#directory.remove(this.#name);
    this.#file = undefined;
    this.#releaseRows();
  }

  #releaseRows(): void {
    this.#keys = EMPTY_BYTES;
    this.#values = EMPTY_BYTES;
    this.#ends = new Uint32Array(1);
    this.#run = Buffer.alloc(0);
  }

  #order(): Uint32Array {
    return byKey(this.#keys, this.#keyLength, 0, this.#count);
  }

  #key(row: number): Uint8Array {
    return this.#keys.subarray(row * this.#keyLength, (row + 1) * this.#keyLength);
  }

  #value(row: number): Uint8Array {
    return this.#values.subarray(this.#ends[row]!, this.#ends[row + 1]!);
  }

  /** Writes the rows in memory as a run: key ‖ length of the value u32 ‖ value. */
  #spill(): void {
    if (this.#file === undefined) {
      this.#file = this.#directory.open(this.#name);
      this.#file.truncate(0);
    }
    const length = this.#count * (this.#keyLength + LENGTH_BYTES) + this.#ends[this.#count]!;
    // One for all runs: the garbage collector is in no hurry with megabytes.
    if (this.#run.length < length) this.#run = Buffer.allocUnsafe(length);
    const run = this.#run.subarray(0, length);
    let at = 0;
    for (const row of this.#order()) {
      run.set(this.#key(row), at);
      at += this.#keyLength;
      const value = this.#value(row);
      at = run.writeUInt32LE(value.length, at);
      run.set(value, at);
      at += value.length;
    }
    const start = this.#runs.at(-1) ?? 0;
    this.#file.write(run, start);
    this.#runs.push(start + run.length);
    this.#count = 0;
  }
}

/** Reads the rows of a sorted run. */
class Run {
  readonly #file: LogFile;
  readonly #end: number;
  readonly #keyLength: number;
  #window = Buffer.alloc(WINDOW_BYTES);
  /** Position in the file of the byte after the window. */
  #position: number;
  #length = 0;
  #at = 0;
  key: Uint8Array = new Uint8Array(0);
  value: Uint8Array = new Uint8Array(0);

  constructor(file: LogFile, start: number, end: number, keyLength: number) {
    this.#file = file;
    this.#position = start;
    this.#end = end;
    this.#keyLength = keyLength;
  }

  /** Turns to the next row; false after the last. */
  next(): boolean {
    if (this.#at === this.#length && this.#position === this.#end) return false;
    const header = this.#keyLength + LENGTH_BYTES;
    this.#need(header);
    const length = this.#window.readUInt32LE(this.#at + this.#keyLength);
    this.#need(header + length);
    const valueStart = this.#at + header;
    this.key = this.#window.subarray(this.#at, this.#at + this.#keyLength);
    this.value = this.#window.subarray(valueStart, valueStart + length);
    this.#at = valueStart + length;
    return true;
  }

  /** Has `count` bytes in the window from `#at` on. */
  #need(count: number): void {
    const left = this.#length - this.#at;
    if (left >= count) return;
    const window = count > this.#window.length ? Buffer.alloc(count) : this.#window;
    this.#window.copy(window, 0, this.#at, this.#length);
    this.#window = window;
    const wanted = Math.min(window.length - left, this.#end - this.#position);
    const read = this.#file.read(window.subarray(left, left + wanted), this.#position);
    invariant(read === wanted && left + read >= count, "a run of a sort must be as it was written");
    this.#position += read;
    this.#length = left + read;
    this.#at = 0;
  }
}

/** The runs by the key of their next row, the smallest first. */
class RunHeap {
  readonly #runs: Run[];

  constructor(runs: Run[]) {
    this.#runs = runs.sort((a, b) => Buffer.compare(a.key, b.key));
  }

  get first(): Run | undefined {
    return this.#runs[0];
  }

  /** Turns the first run to its next row. */
  advance(): void {
    const runs = this.#runs;
    if (!runs[0]!.next()) {
      const last = runs.pop()!;
      if (runs.length === 0) return;
      runs[0] = last;
    }
    for (let at = 0; ; ) {
      let smallest = at;
      for (let child = 2 * at + 1; child <= 2 * at + 2 && child < runs.length; child++) {
        if (Buffer.compare(runs[child]!.key, runs[smallest]!.key) < 0) smallest = child;
      }
      if (smallest === at) return;
      [runs[at], runs[smallest]] = [runs[smallest]!, runs[at]!];
      at = smallest;
    }
  }
}
