import { InvariantError, invariant } from "../../base/errors.ts";
import { encodedText } from "../../base/primitives/hex.ts";
import type { Kv, KvBuffer, KvRange, KvRow, KvUndo, KvWriter } from "./kv.ts";

/** Limits of the rows held in memory. */
export type BufferLimits = {
  /** From so many on the oldest are to be written when nothing else is to be done, and before another transaction while twice as many wait. */
  readonly rowsMax: number;
  /** The same for the bytes of their keys and values. */
  readonly bytesMax: number;
  /** Rows that are written together: fewer are left to wait. A transaction is not divided. */
  readonly sliceRows: number;
};

/**
 * Blocks of one transaction have five rows, and three where addresses are indexed: those of 1,500 blocks wait, which a merge writes then. They take
 * some megabytes. Codes are the only long values. A thousand rows are written in 3 ms.
 */
const BUFFER_LIMITS: BufferLimits = { rowsMax: 15_000, bytesMax: 8 << 20, sliceRows: 1_000 };

/** One write of a transaction that waits. */
type Write = {
  /** latin-1 */
  readonly key: string;
  /** undefined: the row is removed */
  readonly value: Uint8Array | undefined;
  readonly position: number;
  /** The write of the same row before, where that waited. */
  before: Write | undefined;
};

/**
 * A store whose small transactions wait in memory, those of `buffer`: they cost a hundredth of one in the files, and undoing them costs nothing. Readers see
 * them at once, readers in other threads and processes do not. The files always hold what a number of whole transactions made, from the first one: a process that
 * dies loses the last ones of `buffer`, and no other.
 */
export class BufferedKv implements Kv, KvWriter {
  readonly #kv: Kv;
  readonly #limits: BufferLimits;
  /** The newest write of each row that waits, by the first byte of its key. */
  readonly #tables = new Map<number, Map<string, Write>>();
  /** Transactions that wait, as one list of writes, and the position after each of them. */
  #writes: Write[] = [];
  #ends: number[] = [];
  /** Position of the first of them. */
  #start = 0;
  /** Writes before it are in the files, or may be: they cannot be undone. */
  #fixed = 0;
  #bytes = 0;
  #writing = false;
  readonly load?: NonNullable<Kv["load"]>;

  /** @param kv without another writer */
  constructor(kv: Kv, limits: BufferLimits = BUFFER_LIMITS) {
    this.#kv = kv;
    this.#limits = limits;
    if (kv.load === undefined) return;
    this.load = (fill) => {
      this.#drop(this.#writes.length);
      this.#forbidUndo();
      kv.load?.(fill);
    };
  }

  /** Only of what waits. */
  readonly undo: KvUndo = {
    mark: () => this.#end,
    canUndoTo: (mark) => mark >= this.#fixed && mark <= this.#end,
    undoTo: (mark) => {
      invariant(!this.#writing, "a transaction must not be undone while it runs");
      this.#undoTo(mark);
    },
  };

  readonly buffer: KvBuffer = {
    transaction: (work) => this.#later(work),
    isFull: () => this.#holds(1),
    writeSome: () => this.#writeSome(),
    writeAll: () => this.#writeAll(),
  };

  get #end(): number {
    return this.#start + this.#writes.length;
  }

  #holds(times: number): boolean {
    const { rowsMax, bytesMax } = this.#limits;
    return this.#writes.length >= times * rowsMax || this.#bytes >= times * bytesMax;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const waiting = this.#waiting(key);
    return waiting === undefined ? this.#kv.get(key) : waiting.value?.slice();
  }

  view(key: Uint8Array): Uint8Array | undefined {
    const waiting = this.#waiting(key);
    return waiting === undefined ? this.#kv.view(key) : waiting.value;
  }

  #waiting(key: Uint8Array): Write | undefined {
    const table = this.#tables.get(key[0]!);
    return table === undefined ? undefined : table.get(encodedText(key, "latin1"));
  }

  *range(range: KvRange): Generator<KvRow> {
    const waiting = this.#waitingIn(range);
    if (waiting.length === 0) {
      yield* this.#kv.range(range);
      return;
    }
    const { reverse = false, limit = Number.POSITIVE_INFINITY } = range;
    let left = limit;
    for (const row of merged(this.#kv.range({ ...range, limit: Number.POSITIVE_INFINITY }), waiting, reverse)) {
      if (left-- <= 0) return;
      yield row;
    }
  }

  /** In the order of the range. */
  #waitingIn({ from, to, reverse = false }: KvRange): readonly (readonly [string, Write])[] {
    const [firstTable, lastTable] = [from?.[0] ?? 0, to?.[0] ?? 255];
    const low = from === undefined ? "" : encodedText(from, "latin1");
    const high = to === undefined ? undefined : encodedText(to, "latin1");
    const found: (readonly [string, Write])[] = [];
    for (const [table, rows] of this.#tables) {
      if (table < firstTable || table > lastTable) continue;
      for (const row of rows) {
        if (row[0] >= low && (high === undefined || row[0] < high)) found.push(row);
      }
    }
    found.sort(([a], [b]) => (a < b ? -1 : 1));
    return reverse ? found.reverse() : found;
  }

  /** Writes the oldest waiting rows in a separate transaction. */
  transaction<T>(work: (writer: KvWriter) => T): T {
    this.#writeAll();
    this.#forbidUndo();
    return this.#kv.transaction(work);
  }

  #later<T>(work: (writer: KvWriter) => T): T {
    invariant(!this.#writing, "transactions must not be nested");
    // Where it fails, the caller can try again: nothing has changed.
    while (this.#holds(2)) this.#writeSome();
    const begin = this.#end;
    this.#writing = true;
    try {
      const result = work(this);
      this.#ends.push(this.#end);
      return result;
    } catch (error) {
      this.#undoTo(begin);
      throw error;
    } finally {
      this.#writing = false;
    }
  }

  remove(key: Uint8Array): void {
    this.put(key, undefined);
  }

  /** @param given undefined: the row is removed */
  put(key: Uint8Array, given: Uint8Array | undefined): void {
    if (!this.#writing) throw new InvariantError("writes must happen inside a transaction");
    // Of a buffer `slice` would be a view.
    const value = given && new Uint8Array(given);
    const text = encodedText(key, "latin1");
    const number = key[0]!;
    let table = this.#tables.get(number);
    if (table === undefined) {
      table = new Map();
      this.#tables.set(number, table);
    }
    const position = this.#start + this.#writes.length;
    const write = { key: text, value, position, before: table.get(text) };
    table.set(text, write);
    this.#writes.push(write);
    this.#bytes += text.length;
    if (value !== undefined) this.#bytes += value.length;
  }

  #undoTo(mark: number): void {
    const left = mark - this.#start;
    if (2 * left < this.#writes.length) this.#keepFirst(left);
    while (this.#end > mark) {
      const write = this.#writes.pop()!;
      const { key, before } = write;
      this.#bytes -= bytesOf(write);
      const table = this.#tables.get(key.charCodeAt(0))!;
      if (before === undefined || before.position < this.#start) table.delete(key);
      else table.set(key, before);
    }
    while (this.#ends.length > 0 && this.#ends.at(-1)! > mark) this.#ends.pop();
  }

  /** Fills the tables anew: where most writes go, that takes less time than to take each of them out. */
  #keepFirst(count: number): void {
    this.#writes.length = count;
    for (const table of this.#tables.values()) table.clear();
    this.#bytes = 0;
    for (const write of this.#writes) {
      this.#tables.get(write.key.charCodeAt(0))!.set(write.key, write);
      this.#bytes += bytesOf(write);
    }
  }

  /** Marks of before are void: they are of what cannot be undone. */
  #forbidUndo(): void {
    this.#start = this.#end + 1;
    this.#fixed = this.#start;
  }

  /** Writes the oldest transactions that are a slice together; false where less than that waits. */
  #writeSome(): boolean {
    const { sliceRows } = this.#limits;
    if (this.#writes.length < sliceRows && !this.#holds(1)) return false;
    const rows = Math.min(sliceRows, this.#writes.length);
    const end = this.#ends.find((position) => position - this.#start >= rows)!;
    this.#writeFirst(end - this.#start);
    return true;
  }

  #writeAll(): void {
    if (this.#writes.length > 0) this.#writeFirst(this.#writes.length);
  }

  /** If it fails, all rows wait as before; rows that reached the store are written again. */
  #writeFirst(count: number): void {
    invariant(!this.#writing, "transactions must not be nested");
    const rows = new Map<string, Uint8Array | undefined>();
    for (let i = 0; i < count; i++) rows.set(this.#writes[i]!.key, this.#writes[i]!.value);
    // A B-tree takes sorted rows several times faster than random ones.
    const keys = Array.from(rows.keys()).sort();
    this.#fixed = this.#start + count;
    this.#kv.transaction((writer) => {
      for (const text of keys) {
        const value = rows.get(text);
        if (value === undefined) writer.remove(toBytes(text));
        else writer.put(toBytes(text), value);
      }
    });
    this.#drop(count);
  }

  /** Forgets the first `count` writes. */
  #drop(count: number): void {
    const written = this.#writes.splice(0, count);
    this.#start += count;
    this.#ends = this.#ends.slice(this.#ends.findLastIndex((position) => position <= this.#start) + 1);
    if (this.#writes.length === 0) {
      this.#tables.clear();
      this.#bytes = 0;
      return;
    }
    for (const write of written) {
      this.#bytes -= bytesOf(write);
      // Otherwise the newest write of a row would hold all those before.
      write.before = undefined;
      const table = this.#tables.get(write.key.charCodeAt(0))!;
      if (table.get(write.key) === write) table.delete(write.key);
    }
  }

  /** Writes what waits too. */
  sync(): void {
    this.#writeAll();
    this.#kv.sync();
  }

  /** What waits is lost: the owner writes it before, where it can. */
  close(): void {
    this.#kv.close();
  }
}

/** The rows of `stored` with those of `waiting` in their places; both are in the order of the scan. */
function* merged(
  stored: Iterable<KvRow>,
  waiting: readonly (readonly [string, Write])[],
  reverse: boolean,
): Generator<KvRow> {
  let at = 0;
  for (const row of stored) {
    const key = encodedText(row[0], "latin1");
    let isReplaced = false;
    for (; at < waiting.length; at++) {
      const [text, { value }] = waiting[at]!;
      if (reverse ? text < key : text > key) break;
      isReplaced ||= text === key;
      if (value !== undefined) yield [toBytes(text), value.slice()];
    }
    if (!isReplaced) yield row;
  }
  for (; at < waiting.length; at++) {
    const [text, { value }] = waiting[at]!;
    if (value !== undefined) yield [toBytes(text), value.slice()];
  }
}

function bytesOf({ key, value }: Write): number {
  return key.length + (value?.length ?? 0);
}

function toBytes(key: string): Uint8Array {
  return Buffer.from(key, "latin1");
}
