import { closeSync, openSync, writeSync } from "node:fs";
import { invariant } from "../errors.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import { copyShared } from "../primitives/slab.ts";
import type { KvLoad, SortedRows } from "./kv.ts";
import {
  BIG_DATA,
  BIG_DATA_LENGTH,
  branchPages,
  metaPage,
  NODE_HEADER,
  overflowPages,
  PAGE_HEADER,
  PAGE_SIZE,
  type PageRef,
  putPageHeader,
  TRANSACTION,
} from "./lmdb-pages.ts";
import { CHECKSUM_LENGTH, writeChecksum } from "./lmdb-row.ts";

/** Pages written to the file together. */
const BUFFER_PAGES = 256;
/** Space for nodes and their offsets. */
const PAGE_SPACE = PAGE_SIZE - PAGE_HEADER;
/** Rows become longer with their next versions: a full leaf is split by the first of them (ADR 80). */
const FILL_BYTES = Math.floor(PAGE_SPACE * 0.75);
/** LMDB's longest node of a leaf: two fit a page. */
const NODE_MAX = 2_034;
const KEY_MAX = 512;
const FIRST_PAGE = 2;

/**
 * Writes a data file of LMDB from sorted rows, page by page: a third of the time that LMDB takes for them, without copies of changed
 * pages, and without a mapped page in memory.
 */
export class LmdbBuild implements KvLoad {
  readonly #fd: number;
  readonly #buffer = Buffer.alloc(BUFFER_PAGES * PAGE_SIZE);
  readonly #runs: Run[] = [];
  #buffered = 0;
  #pages = FIRST_PAGE;
  #overflows = 0;

  /** @param path of the file, made or emptied */
  constructor(path: string) {
    this.#fd = openSync(path, "w", 0o600);
  }

  run(): SortedRows {
    const run = new Run({
      addPage: (page) => this.#addPage(page),
      addOverflow: (value, count) => this.#addOverflow(value, count),
    });
    this.#runs.push(run);
    return run;
  }

  /** Writes what the leaves lack for a file that LMDB opens. */
  finish(): void {
    const runs = this.#runs.filter((run) => run.entries > 0);
    for (const run of runs) run.finish();
    runs.sort((a, b) => Buffer.compare(a.leaves[0]!.key, b.leaves[0]!.key));
    for (const [i, run] of runs.entries()) {
      const isAfter = i === 0 || Buffer.compare(runs[i - 1]!.lastKey, run.leaves[0]!.key) < 0;
      invariant(isAfter, "runs of sorted rows must not overlap");
    }
    let level: PageRef[] = runs.flatMap((run) => run.leaves);
    const leaves = level.length;
    let depth = leaves === 0 ? 0 : 1;
    let branches = 0;
    for (; level.length > 1; depth++) {
      level = branchPages(level, (page) => this.#addPage(page));
      branches += level.length;
    }
    const entries = runs.reduce((sum, run) => sum + run.entries, 0);
    const tree = { depth, branches, leaves, overflows: this.#overflows, entries };
    this.#flush();
    const empty = metaPage({ number: 0, pages: FIRST_PAGE, tree: undefined });
    const filled = metaPage({
      number: 1,
      pages: this.#pages,
      tree: leaves === 0 ? undefined : { ...tree, root: level[0]!.page },
    });
    writeFully(this.#fd, Buffer.concat([empty, filled]), 0);
    closeSync(this.#fd);
  }

  abort(): void {
    closeSync(this.#fd);
  }

  /** Adds a page but for its number; the number. */
  #addPage(page: Uint8Array): number {
    if (this.#buffered === BUFFER_PAGES) this.#flush();
    const at = this.#buffered * PAGE_SIZE;
    this.#buffer.set(page, at);
    this.#buffer.writeUInt32LE(this.#pages, at);
    this.#buffered++;
    return this.#pages++;
  }

  /** Adds `count` pages that begin with a header; the number of the first. */
  #addOverflow(value: Buffer, count: number): number {
    this.#flush();
    const first = this.#pages;
    value.writeUInt32LE(first, 0);
    writeFully(this.#fd, value, first * PAGE_SIZE);
    this.#pages += count;
    this.#overflows += count;
    return first;
  }

  #flush(): void {
    const length = this.#buffered * PAGE_SIZE;
    const first = this.#pages - this.#buffered;
    writeFully(this.#fd, this.#buffer.subarray(0, length), first * PAGE_SIZE);
    this.#buffered = 0;
  }
}

type PageSink = {
  addPage(page: Uint8Array): number;
  addOverflow(pages: Buffer, count: number): number;
};

/** The leaves of rows that come in ascending order. */
class Run implements SortedRows {
  readonly #sink: PageSink;
  readonly leaves: PageRef[] = [];
  entries = 0;
  readonly #page = Buffer.alloc(PAGE_SIZE);
  /** Of the page: bytes of offsets, and where its nodes begin. */
  #lower = 0;
  #upper = PAGE_SPACE;
  readonly #last = new Uint8Array(KEY_MAX);
  #lastLength = 0;
  #firstKey: Uint8Array = EMPTY_BYTES;

  constructor(sink: PageSink) {
    this.#sink = sink;
  }

  get lastKey(): Uint8Array {
    return this.#last.subarray(0, this.#lastLength);
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.#setLast(key);
    const length = value.length + CHECKSUM_LENGTH;
    const isBig = NODE_HEADER + key.length + length > NODE_MAX;
    const size = NODE_HEADER + key.length + (isBig ? BIG_DATA_LENGTH : length);
    const evenSize = size + (size & 1);
    const isFull = PAGE_SPACE - this.#upper + this.#lower + 2 + evenSize > FILL_BYTES;
    if (isFull && this.#lower > 0) this.finish();
    if (this.#lower === 0) this.#firstKey = copyShared(key, 0, key.length);
    this.#upper -= evenSize;
    const page = this.#page;
    const offset = PAGE_HEADER + this.#lower;
    page[offset] = this.#upper & 255;
    page[offset + 1] = this.#upper >> 8;
    this.#lower += 2;
    const at = PAGE_HEADER + this.#upper;
    page[at] = length & 255;
    page[at + 1] = (length >> 8) & 255;
    page[at + 2] = (length >> 16) & 255;
    page[at + 3] = length >>> 24;
    page[at + 4] = isBig ? BIG_DATA : 0;
    page[at + 5] = 0;
    page[at + 6] = key.length & 255;
    page[at + 7] = key.length >> 8;
    const keyStart = at + NODE_HEADER;
    for (let i = 0; i < key.length; i++) page[keyStart + i] = key[i]!;
    const start = keyStart + key.length;
    if (isBig) this.#putBig(key, value, start);
    else {
      page.set(value, start);
      writeChecksum(key, value, page, start + value.length);
    }
    this.entries++;
  }

  /** Ends the page, so that the next row begins another. */
  finish(): void {
    if (this.#lower === 0) return;
    const page = this.#page;
    putPageHeader(page, "leaf", this.#lower, this.#upper);
    page.fill(0, PAGE_HEADER + this.#lower, PAGE_HEADER + this.#upper);
    this.leaves.push({ key: this.#firstKey, page: this.#sink.addPage(page) });
    this.#lower = 0;
    this.#upper = PAGE_SPACE;
  }

  #putBig(key: Uint8Array, value: Uint8Array, start: number): void {
    const count = overflowPages(value.length + CHECKSUM_LENGTH);
    const pages = Buffer.alloc(count * PAGE_SIZE);
    putPageHeader(pages, "overflow", count & 0xffff, count >>> 16);
    pages.set(value, PAGE_HEADER);
    writeChecksum(key, value, pages, PAGE_HEADER + value.length);
    const first = this.#sink.addOverflow(pages, count);
    const page = this.#page;
    page.fill(0, start, start + BIG_DATA_LENGTH);
    page.writeUInt32LE(first, start);
    page.writeUInt32LE(TRANSACTION, start + 8);
    page.writeUInt32LE(count, start + 16);
  }

  /** Notes the key, which must be above the last one. */
  #setLast(key: Uint8Array): void {
    const last = this.#last;
    const shared = Math.min(key.length, this.#lastLength);
    let i = 0;
    while (i < shared && key[i] === last[i]) i++;
    const isAfter = i < shared ? key[i]! > last[i]! : key.length > this.#lastLength;
    invariant(isAfter && key.length <= KEY_MAX, "rows must be sorted, each key once");
    for (; i < key.length; i++) last[i] = key[i]!;
    this.#lastLength = key.length;
  }
}

function writeFully(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
  }
}
