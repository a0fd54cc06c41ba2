import { type BlockLogs, LogTable } from "../../../chain/logs/block-logs.ts";
import type { LogTexts } from "./log-list.ts";

/** Number of slots: a block replaces the last one with the same number modulo this. A search of more blocks evicts them all. */
const SEARCHED_MAX = 1_024;
/** One block takes no more than this part of the cache. */
const BLOCK_SHARE = 1 / 8;
/** JSON of a log in bytes of its row, and a string besides its letters. */
const TEXT_GROWTH = 4;
const STRING_BYTES = 24;
const HASH_BYTES = 32;

type Entry = LogTexts & { bytes: number };

/**
 * JSON of logs, as it was written for a search, by block and log. Clients that poll search the newest blocks again and again; a block enters
 * when it is searched a second time, so that a search of the whole chain costs nothing here.
 *
 * Entries hold the hash of their block, so nothing is to be forgotten when blocks are rolled back.
 */
export class LogTextCache {
  readonly #bytesMax: number;
  /** By number; least recently used first. */
  readonly #entries = new Map<number, Entry>();
  readonly #searched = new Float64Array(SEARCHED_MAX).fill(-1);
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Memory that it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The texts of the block, to be read and added to before the next call; undefined while it was not searched twice. */
  of(logs: BlockLogs): LogTexts | undefined {
    const { number } = logs;
    const known = this.#entries.get(number);
    if (known !== undefined) {
      this.#entries.delete(number);
      if (logs.bytes.compare(known.table.bytes, 0, HASH_BYTES, 0, HASH_BYTES) === 0) {
        this.#entries.set(number, known);
        known.table.rewind();
        return known;
      }
      this.#bytes -= known.bytes;
    }
    const slot = number % SEARCHED_MAX;
    const isSearched = this.#searched[slot] === number;
    this.#searched[slot] = number;
    const isLarge = logs.bytes.length * TEXT_GROWTH > this.#bytesMax * BLOCK_SHARE;
    return isSearched && !isLarge ? this.#add(logs) : undefined;
  }

  #add(logs: BlockLogs): LogTexts {
    const table = new LogTable(logs);
    const entry: Entry = {
      table,
      texts: new Array(table.count),
      bytes: 0,
      added: (text) => this.#charge(entry, text.length + STRING_BYTES),
    };
    this.#entries.set(table.number, entry);
    this.#charge(entry, table.byteLength);
    return entry;
  }

  #charge(entry: Entry, bytes: number): void {
    // It may have left while it was added to.
    if (this.#entries.get(entry.table.number) !== entry) return;
    entry.bytes += bytes;
    this.#bytes += bytes;
    for (const [number, { bytes }] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#entries.delete(number);
      this.#bytes -= bytes;
    }
  }
}
