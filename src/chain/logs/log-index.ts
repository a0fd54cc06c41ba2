import { ByteReader, ByteWriter } from "../../store/storage/byte-io.ts";
import { type Kv, type KvWriter, type MissingRow, prefixRange } from "../../store/storage/kv.ts";
import {
  commonOffsets,
  countOffsets,
  hasOffset,
  type OffsetSet,
  offsetsFrom,
  offsetsUpTo,
  unionOffsets,
  withOffsets,
} from "../../store/storage/offset-set.ts";
import { META, numberFromKey, TABLE, tableKey } from "../../store/storage/schema.ts";
import type { IndexedParts } from "../records/indexed-block.ts";
import { BlockLogs, encodeBlockLogs } from "./block-logs.ts";
import {
  chunkOf,
  LOG_CHUNK_BLOCKS,
  type LogFilter,
  type LogSource,
  type LogTerm,
  offsetOf,
  readTermRowKey,
  termRowKey,
  termsOfBlock,
  visitTerms,
} from "./log-filter.ts";

/** When what waits in memory goes to its rows. */
export type LogMergeLimits = {
  /** Or when this many blocks wait, so that a restart has few records to read again. */
  readonly blocksMin: number;
  readonly postingsMin: number;
  /** Bytes of logs. */
  readonly logBytesMin: number;
  /** Terms, or blocks with logs, merged in one transaction, during which nothing else runs. */
  readonly rowsMax: number;
};

/** 50,000 postings take about 8 MB. A hot term's row is 8 KiB, written again by each merge: 512 blocks share that. */
export const LOG_MERGE_LIMITS: LogMergeLimits = {
  blocksMin: 512,
  postingsMin: 50_000,
  logBytesMin: 8 << 20,
  rowsMax: 1_000,
};

/** Postings and logs of some blocks that are not yet in rows. */
type Waiting = {
  /** Block numbers, ascending, by term. */
  readonly postings: Map<LogTerm, number[]>;
  /** Rows of blocks with logs, by number, ascending. */
  readonly logs: Map<number, Uint8Array>;
};

/**
 * In which blocks an address has logged, and each topic at each position, and the logs of every block.
 *
 *     postings   term ‖ chunk → offsets in the chunk (offset-set.ts)
 *     logs       block number → its logs (block-logs.ts)
 *
 * New blocks stay in memory until a merge writes some hundreds of them into rows. Readers combine memory and rows. A separate row records
 * the last merged block; after a restart the owner passes later blocks again.
 */
export class LogIndex implements LogSource {
  readonly #kv: Kv;
  readonly #limits: LogMergeLimits;
  readonly #missingRow: MissingRow | undefined;
  #recent: Waiting = newWaiting();
  #recentPostings = 0;
  #recentLogBytes = 0;
  /** Blocks from genesis that were remembered. */
  #knownBlocks: number;
  /** Blocks from genesis whose rows are all there. */
  #mergedBlocks: number;
  /** Being merged into rows, a slice at a time; an entry leaves when its rows are committed. */
  #merging: (Waiting & { blocks: number; readonly terms: LogTerm[] }) | undefined;

  /** @param missingRow given: `logsOf` throws where a posting names a block whose row is missing */
  constructor(kv: Kv, limits: LogMergeLimits = LOG_MERGE_LIMITS, missingRow?: MissingRow | undefined) {
    this.#kv = kv;
    this.#missingRow = missingRow;
    this.#limits = limits;
    this.#mergedBlocks = this.#readMark();
    this.#knownBlocks = this.#mergedBlocks;
  }

  /** Blocks from genesis that need not be remembered again after a restart. */
  get mergedBlocks(): number {
    return this.#mergedBlocks;
  }

  /** Blocks from genesis that are in rows or were remembered. */
  get knownBlocks(): number {
    return this.#knownBlocks;
  }

  /** For a reader beside the process that writes: forgets what that one has merged into rows since. */
  forgetMerged(): void {
    const merged = this.#readMark();
    if (merged <= this.#mergedBlocks) return;
    this.#mergedBlocks = merged;
    this.#knownBlocks = Math.max(this.#knownBlocks, merged);
    const { postings, logs } = this.#recent;
    for (const number of logs.keys()) if (number < merged) logs.delete(number);
    for (const [term, numbers] of postings) {
      const left = numbers.slice(indexOf(numbers, merged));
      if (left.length === 0) postings.delete(term);
      else if (left.length < numbers.length) postings.set(term, left);
    }
  }

  #readMark(): number {
    const mark = this.#kv.get(MARK_KEY);
    return mark === undefined ? 0 : new ByteReader(mark).varint();
  }

  /** Takes the next block; one that is known already is passed over. */
  remember(executed: IndexedParts): void {
    const { number } = executed.block.header;
    if (number < this.#knownBlocks) return;
    this.#knownBlocks = number + 1;
    const row = encodeBlockLogs(executed);
    if (row === undefined) return;
    this.#recent.logs.set(number, row);
    this.#recentLogBytes += row.length;
    const { postings } = this.#recent;
    visitTerms(new BlockLogs(number, row), (term) => {
      const numbers = postings.get(term);
      if (numbers === undefined) postings.set(term, [number]);
      else if (numbers.at(-1) === number) return;
      else numbers.push(number);
      this.#recentPostings++;
    });
  }

  candidates(filter: LogFilter, from: number, to: number): readonly number[] {
    const sets: OffsetSet[] = [];
    for (const alternatives of filter.indexTerms()) {
      const found: OffsetSet[] = [];
      for (const term of alternatives) {
        const set = this.#offsets(term, from, to);
        if (set !== undefined) found.push(set);
      }
      if (found.length === 0) return [];
      sets.push(unionOffsets(found));
    }
    const base = chunkOf(from) * LOG_CHUNK_BLOCKS;
    const offsets = commonOffsets(sets, offsetOf(from), offsetOf(to));
    for (let i = 0; i < offsets.length; i++) offsets[i]! += base;
    return offsets;
  }

  logsOf(number: number): BlockLogs | undefined {
    const logs = this.storedLogs(number);
    if (logs !== undefined || this.#missingRow === undefined) return logs;
    if (number < this.#knownBlocks) throw this.#missingRow(logsKey(number));
    return undefined;
  }

  /** The logs of any block; undefined if it has none. */
  storedLogs(number: number): BlockLogs | undefined {
    const row = this.#recent.logs.get(number) ?? this.#merging?.logs.get(number) ?? this.#kv.view(logsKey(number));
    return row && new BlockLogs(number, row);
  }

  /** True when `mergeSome` has something to do. */
  needsMerge(): boolean {
    const { blocksMin } = this.#limits;
    if (this.#merging !== undefined) return true;
    return this.#knownBlocks - this.#mergedBlocks >= blocksMin || this.#waits(1);
  }

  /** True when so much waits that the next block has to as well. */
  isMergeLate(): boolean {
    return this.#waits(2);
  }

  #waits(times: number): boolean {
    const { postingsMin, logBytesMin } = this.#limits;
    return this.#recentPostings >= times * postingsMin || this.#recentLogBytes >= times * logBytesMin;
  }

  /** Moves a part of what waits into rows; true while there is more to do. */
  mergeSome(): boolean {
    this.#merging ??= this.#beginMerge();
    const { postings, logs, terms, blocks } = this.#merging;
    const { rowsMax } = this.#limits;
    const slice = terms.slice(-rowsMax);
    const numbers = slice.length > 0 ? [] : Array.from(logs.keys()).slice(0, rowsMax);
    const isLast = slice.length === 0 && numbers.length === logs.size;
    this.#kv.transaction((writer) => {
      for (const term of slice) this.#mergeTerm(writer, term, postings.get(term) ?? []);
      for (const number of numbers) writer.put(logsKey(number), logs.get(number)!);
      if (isLast) writeMark(writer, blocks);
    });
    terms.length -= slice.length;
    for (const term of slice) postings.delete(term);
    for (const number of numbers) logs.delete(number);
    if (!isLast) return true;
    this.#mergedBlocks = blocks;
    this.#merging = undefined;
    return false;
  }

  #beginMerge() {
    const { postings, logs } = this.#recent;
    this.#recent = newWaiting();
    this.#recentPostings = 0;
    this.#recentLogBytes = 0;
    // A B-tree takes sorted rows several times faster than random ones. Slices are cut from the end.
    const terms = Array.from(postings.keys()).sort().reverse();
    return { postings, logs, terms, blocks: this.#knownBlocks };
  }

  /** After a crash in the middle of a merge some rows have a part of `numbers` already. */
  #mergeTerm(writer: KvWriter, term: LogTerm, numbers: readonly number[]): void {
    for (const [chunk, offsets] of byChunk(numbers)) {
      const key = termRowKey(term, chunk);
      writer.put(key, withOffsets(writer.get(key), offsets));
    }
  }

  /** As `rollback`, where no merge has begun with a block after `last`: nothing of them is in rows. */
  forgetAfter(last: number): void {
    for (let number = last + 1; number < this.#knownBlocks; number++) {
      const row = this.#recent.logs.get(number);
      if (row === undefined) continue;
      for (const term of termsOfBlock(new BlockLogs(number, row))) {
        this.#recentPostings -= trim(this.#recent.postings, term, last);
      }
      this.#recent.logs.delete(number);
      this.#recentLogBytes -= row.length;
    }
    this.#knownBlocks = Math.min(this.#knownBlocks, last + 1);
  }

  /**
   * Makes block `last` the newest; `removed` are all blocks after it: in memory now, in rows by the returned function, which can be called
   * again for another try of its transaction. Where that does not commit, the index must be opened again.
   */
  rollback(last: number, removed: Iterable<IndexedParts>): (writer: KvWriter) => void {
    const terms = new Set<LogTerm>();
    const numbers: number[] = [];
    for (const executed of removed) {
      const row = encodeBlockLogs(executed);
      if (row === undefined) continue;
      const logs = new BlockLogs(executed.block.header.number, row);
      for (const term of termsOfBlock(logs)) terms.add(term);
      numbers.push(logs.number);
      if (this.#recent.logs.delete(logs.number)) this.#recentLogBytes -= row.length;
      this.#merging?.logs.delete(logs.number);
    }
    for (const term of terms) {
      this.#recentPostings -= trim(this.#recent.postings, term, last);
      if (this.#merging !== undefined) trim(this.#merging.postings, term, last);
    }
    const blocks = last + 1;
    this.#knownBlocks = Math.min(this.#knownBlocks, blocks);
    if (this.#merging !== undefined) this.#merging.blocks = Math.min(this.#merging.blocks, blocks);
    const hasMore = this.#mergedBlocks > blocks;
    if (hasMore) this.#mergedBlocks = blocks;
    return (writer) => {
      for (const number of numbers) writer.remove(logsKey(number));
      const lastChunk = chunkOf(numbers.at(-1) ?? last);
      for (const term of terms) {
        for (let chunk = chunkOf(last); chunk <= lastChunk; chunk++) {
          trimRow(writer, termRowKey(term, chunk), last - chunk * LOG_CHUNK_BLOCKS);
        }
      }
      if (hasMore) writeMark(writer, blocks);
    };
  }

  /** The steps that remove the logs of a block, and of its terms all postings before block `base`, which must be in rows. */
  *pruneSteps(executed: IndexedParts, base: number): Generator<(writer: KvWriter) => void> {
    const row = encodeBlockLogs(executed);
    if (row === undefined) return;
    const logs = new BlockLogs(executed.block.header.number, row);
    yield (writer) => writer.remove(logsKey(logs.number));
    const chunk = chunkOf(logs.number);
    const first = base - chunk * LOG_CHUNK_BLOCKS;
    for (const term of termsOfBlock(logs)) {
      yield (writer) => pruneRow(writer, termRowKey(term, chunk), first);
    }
  }

  /** Whether block `number` is a candidate for each term of its logs; checks of the store use it. */
  holdsEveryTermOf(logs: BlockLogs): { readonly isWhole: boolean; readonly postings: number } {
    const terms = termsOfBlock(logs);
    let isWhole = true;
    for (const term of terms) {
      const set = this.#offsets(term, logs.number, logs.number);
      isWhole &&= set !== undefined && hasOffset(set, offsetOf(logs.number));
    }
    return { isWhole, postings: terms.size };
  }

  /** Postings of all terms together. Reads every row. */
  postingCount(): number {
    let count = 0;
    const counted = new Set<string>();
    const waiting = [this.#recent, ...(this.#merging ? [this.#merging] : [])];
    for (const [key] of this.#kv.range(prefixRange(Uint8Array.of(TABLE.logPosting)))) {
      const { term, chunk } = readTermRowKey(key);
      counted.add(`${chunk} ${term}`);
      count += this.#countOf(term, chunk);
    }
    for (const { postings } of waiting) {
      for (const [term, numbers] of postings) {
        for (const chunk of byChunk(numbers).keys()) {
          if (counted.has(`${chunk} ${term}`)) continue;
          counted.add(`${chunk} ${term}`);
          count += this.#countOf(term, chunk);
        }
      }
    }
    return count;
  }

  /** Blocks with logs. Reads every row. */
  blockCount(): number {
    let count = this.#recent.logs.size;
    const isRowToo = new Set(this.#merging?.logs.keys());
    for (const [key] of this.#kv.range(prefixRange(Uint8Array.of(TABLE.blockLogs)))) {
      const number = numberFromKey(key, 1);
      if (!this.#recent.logs.has(number)) count++;
      isRowToo.delete(number);
    }
    return count + isRowToo.size;
  }

  #countOf(term: LogTerm, chunk: number): number {
    const from = chunk * LOG_CHUNK_BLOCKS;
    const set = this.#offsets(term, from, from + LOG_CHUNK_BLOCKS - 1);
    return set === undefined ? 0 : countOffsets(set);
  }

  /**
   * Where from `from` to `to`, in one chunk, there is `term`, in rows and in memory together; other blocks of
   * the chunk may be there too.
   */
  #offsets(term: LogTerm, from: number, to: number): OffsetSet | undefined {
    // Rows hold nothing newer than the last merge, unless one is under way.
    const isInRows = from < this.#mergedBlocks || this.#merging !== undefined;
    let set: OffsetSet | undefined = isInRows ? this.#kv.get(termRowKey(term, chunkOf(from))) : undefined;
    for (const waiting of [this.#merging, this.#recent]) {
      const numbers = waiting?.postings.get(term);
      if (numbers === undefined) continue;
      const wanted = numbers.slice(indexOf(numbers, from), indexOf(numbers, to + 1));
      if (wanted.length > 0) set = withOffsets(set, wanted.map(offsetOf));
    }
    return set;
  }
}

/** Index of the first of `numbers`, which ascend, that is not below `number`. */
function indexOf(numbers: readonly number[], number: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

const MARK_KEY = tableKey(TABLE.meta, Buffer.from(META.logIndexedBlocks, "latin1"));

function writeMark(writer: KvWriter, blocks: number): void {
  const mark = new ByteWriter(8);
  mark.varint(blocks);
  writer.put(MARK_KEY, mark.finish());
}

function newWaiting(): Waiting {
  return { postings: new Map(), logs: new Map() };
}

function logsKey(number: number): Uint8Array {
  const key = Buffer.allocUnsafe(7);
  key[0] = TABLE.blockLogs;
  key.writeUIntBE(number, 1, 6);
  return key;
}

/** Block numbers, ascending, as offsets in their chunks. */
function byChunk(numbers: readonly number[]): Map<number, number[]> {
  const chunks = new Map<number, number[]>();
  for (const number of numbers) {
    const chunk = chunkOf(number);
    const offsets = chunks.get(chunk);
    if (offsets === undefined) chunks.set(chunk, [offsetOf(number)]);
    else offsets.push(offsetOf(number));
  }
  return chunks;
}

/** Drops the blocks after `last` and returns their number. */
function trim(postings: Map<LogTerm, number[]>, term: LogTerm, last: number): number {
  const numbers = postings.get(term);
  if (numbers === undefined) return 0;
  const kept = numbers.filter((number) => number <= last);
  if (kept.length === 0) postings.delete(term);
  else postings.set(term, kept);
  return numbers.length - kept.length;
}

/** Drops offsets before `first`, which is beyond the chunk where the whole row goes. */
function pruneRow(writer: KvWriter, key: Uint8Array, first: number): void {
  const row = writer.get(key);
  if (row === undefined) return;
  const kept = first < LOG_CHUNK_BLOCKS ? offsetsFrom(row, first) : undefined;
  if (kept === undefined || kept.length === 0) writer.remove(key);
  else if (kept !== row) writer.put(key, kept);
}

/** Drops offsets after `last`, which is negative where the whole row goes. */
function trimRow(writer: KvWriter, key: Uint8Array, last: number): void {
  const row = writer.get(key);
  if (row === undefined) return;
  const kept = last < 0 ? undefined : offsetsUpTo(row, last);
  if (kept === undefined || kept.length === 0) writer.remove(key);
  else writer.put(key, kept);
}
