import { invariant } from "../../base/errors.ts";
import { encodedText } from "../../base/primitives/hex.ts";
import type { Kv, KvRange, KvRow, KvUndo, KvWriter } from "./kv.ts";

/**
 * Keys in sorted runs of at most this many: an insert moves half a run, and finding the run is a
 * binary search over their first keys.
 */
const RUN_LENGTH_MAX = 512;

/** Removed keys stay in their runs until there are this many, and more than other keys. */
const REMOVED_MIN = 1_024;

/**
 * An ordered store in memory. Keys are stored as latin-1 strings, one character a byte: they compare
 * as their bytes do and are hashed by the engine. What the newest transactions replaced is stored too, so that they can be undone.
 */
export function createMemoryKv(): Kv {
  return new MemoryKv();
}

class MemoryKv implements Kv, KvWriter {
  readonly #values = new Map<string, Uint8Array>();
  /** All keys that have a value, and some that had one. */
  #runs: string[][] = [];
  #keysInRuns = 0;
  /** What each key touched in this transaction held before; undefined outside of one. */
  #undo: Map<string, Uint8Array | undefined> | undefined;
  readonly #undoLog = new UndoLog();
  #closed = false;

  readonly undo: KvUndo = {
    mark: () => this.#undoLog.end,
    canUndoTo: (mark) => this.#undoLog.has(mark),
    undoTo: (mark) => {
      invariant(this.#undo === undefined, "a transaction must not be undone while it runs");
      this.#undoLog.undoTo(mark, (key, value) => this.#set(key, value));
    },
  };

  get(key: Uint8Array): Uint8Array | undefined {
    return this.view(key)?.slice();
  }

  view(key: Uint8Array): Uint8Array | undefined {
    invariant(!this.#closed, "the store must be open");
    return this.#values.get(encodedText(key, "latin1"));
  }

  *range({ from, to, reverse = false, limit = Infinity }: KvRange): Generator<KvRow> {
    invariant(!this.#closed, "the store must be open");
    const low = from === undefined ? "" : encodedText(from, "latin1");
    const high = to === undefined ? undefined : encodedText(to, "latin1");
    let left = limit;
    for (const key of reverse ? this.#downFrom(high) : this.#upFrom(low)) {
      if (left <= 0) return;
      if (reverse ? key < low : high !== undefined && key >= high) return;
      const value = this.#values.get(key);
      if (value === undefined) continue;
      left--;
      yield [Buffer.from(key, "latin1"), value.slice()];
    }
  }

  transaction<T>(work: (writer: KvWriter) => T): T {
    invariant(!this.#closed, "the store must be open");
    invariant(this.#undo === undefined, "transactions must not be nested");
    this.#dropRemovedKeys();
    const undo = new Map<string, Uint8Array | undefined>();
    this.#undo = undo;
    try {
      const result = work(this);
      this.#undoLog.add(undo);
      return result;
    } catch (error) {
      for (const [key, value] of undo) this.#set(key, value);
      throw error;
    } finally {
      this.#undo = undefined;
    }
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.#write(key, value.slice());
  }

  remove(key: Uint8Array): void {
    this.#write(key, undefined);
  }

  sync(): void {}

  close(): void {
    this.#closed = true;
  }

  #write(key: Uint8Array, value: Uint8Array | undefined): void {
    invariant(this.#undo !== undefined, "writes must happen inside a transaction");
    const text = encodedText(key, "latin1");
    if (!this.#undo.has(text)) this.#undo.set(text, this.#values.get(text));
    this.#set(text, value);
  }

  #set(key: string, value: Uint8Array | undefined): void {
    if (value === undefined) {
      this.#values.delete(key);
      return;
    }
    const known = this.#values.has(key);
    this.#values.set(key, value);
    if (!known) this.#insert(key);
  }

  #insert(key: string): void {
    const at = this.#runOf(key);
    const run = this.#runs[at] ?? [];
    if (at === this.#runs.length) this.#runs.push(run);
    const index = lowerBound(run, key);
    if (run[index] === key) return;
    run.splice(index, 0, key);
    this.#keysInRuns++;
    if (run.length > RUN_LENGTH_MAX) this.#runs.splice(at + 1, 0, run.splice(run.length >> 1));
  }

  /** Removes keys without a value from the runs once they are most of them: one at a time each would move half a run. */
  #dropRemovedKeys(): void {
    const removed = this.#keysInRuns - this.#values.size;
    if (removed < REMOVED_MIN || removed < this.#values.size) return;
    this.#runs = this.#runs.map((run) => run.filter((key) => this.#values.has(key))).filter((run) => run.length > 0);
    this.#keysInRuns = this.#values.size;
  }

  /** Index of the run that holds `key` or would: the last one that begins at or below it. */
  #runOf(key: string): number {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#runs[middle]![0]! <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  *#upFrom(low: string): Generator<string> {
    for (let at = this.#runOf(low), first = true; at < this.#runs.length; at++, first = false) {
      const run = this.#runs[at]!;
      for (let i = first ? lowerBound(run, low) : 0; i < run.length; i++) yield run[i]!;
    }
  }

  *#downFrom(high: string | undefined): Generator<string> {
    let at = high === undefined ? this.#runs.length - 1 : this.#runOf(high);
    for (let first = true; at >= 0; at--, first = false) {
      const run = this.#runs[at] ?? [];
      let i = first && high !== undefined ? lowerBound(run, high) : run.length;
      while (--i >= 0) yield run[i]!;
    }
  }
}

/** Index of the first key not below `key`. */
function lowerBound(run: readonly string[], key: string): number {
  let low = 0;
  let high = run.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Some 10,000 blocks of a transfer each, and 10 MB. */
const ENTRIES_MAX = 100_000;

/** What each key held before the newest transactions wrote it. The oldest entries go when there are too many. */
class UndoLog {
  #keys: string[] = [];
  #values: (Uint8Array | undefined)[] = [];
  /** Entries that are gone. */
  #start = 0;

  /** Position after the newest entry. */
  get end(): number {
    return this.#start + this.#keys.length;
  }

  /** Every entry from `position` on is there. */
  has(position: number): boolean {
    return position >= this.#start && position <= this.end;
  }

  /** @param replaced value of each key before a transaction, undefined where it had none */
  add(replaced: ReadonlyMap<string, Uint8Array | undefined>): void {
    for (const [key, value] of replaced) {
      this.#keys.push(key);
      this.#values.push(value);
    }
    const surplus = this.#keys.length - ENTRIES_MAX;
    // Half as many at a time, so that each entry is moved twice at most.
    if (surplus < ENTRIES_MAX / 2) return;
    this.#keys = this.#keys.slice(surplus);
    this.#values = this.#values.slice(surplus);
    this.#start += surplus;
  }

  /** Restores what there was at `position`, from the newest entry to the oldest. */
  undoTo(position: number, restore: (key: string, value: Uint8Array | undefined) => void): void {
    while (this.end > position) restore(this.#keys.pop()!, this.#values.pop());
  }
}
