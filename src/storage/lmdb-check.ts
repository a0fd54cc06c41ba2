import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import {
  BIG_DATA,
  BIG_DATA_LENGTH,
  INTEGER_KEYS,
  MAGIC,
  META_OFFSET,
  NO_PAGE,
  overflowPages,
  PAGE_HEADER,
  PAGE_KIND,
  PAGE_SIZE,
  TREE_OFFSET,
  VERSION,
} from "./lmdb-pages.ts";

/**
 * Checks a data file (lmdb-pages.ts) without LMDB, which ends the process on pages that are not its own.
 *
 * Each page holds its own number, no page is newer than the one that refers to it, keys ascend between the keys
 * of their branch, every row carries a checksum, each tree has the pages and entries that its meta page counts,
 * and every page of the file is in use once or free. So a page that was zeroed, changed, lost or replaced by an older
 * one is found.
 */
/** Bits of the flags that say what a page is. */
const KIND = 0xfff;

const PROGRESS_PAGES = 25_000;

export type LmdbCheckOptions = {
  /** False: these bytes are not a row that was written. */
  readonly isRowIntact: (key: Uint8Array, stored: Uint8Array) => boolean;
  /** Called once in 100 MB. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
};

/**
 * What is wrong with the data file at `path`, and where; undefined when nothing is, or there is no file.
 * Takes about a second for 100 MB of rows.
 */
export function findLmdbFault(path: string, options: LmdbCheckOptions): string | undefined {
  if (!existsSync(path)) return undefined;
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    if (size === 0) return undefined;
    new FileCheck(fd, size, options).run();
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Ends the check; never leaves this file. */
class Fault extends Error {}

type Tree = {
  readonly name: string;
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflows: number;
  readonly entries: number;
  /** undefined: the tree is empty */
  readonly root: number | undefined;
};

type Meta = {
  readonly free: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly transaction: number;
};

type Counts = { branches: number; leaves: number; overflows: number; entries: number };

type RowVisitor = (key: Buffer, stored: Buffer, page: number) => void;

type Walk = {
  readonly tree: Tree;
  readonly counts: Counts;
  readonly order: (a: Buffer, b: Buffer) => number;
  readonly visit: RowVisitor;
};

/** What the parent of a page says of it. */
type Expected = {
  /** 1 for the root */
  readonly depth: number;
  /** The transaction that wrote the parent. */
  readonly newest: number;
  /** Lowest key that may be below the page; undefined: no bound. */
  readonly low: Buffer | undefined;
  /** The first key that may not. */
  readonly high: Buffer | undefined;
};

class FileCheck {
  readonly #fd: number;
  readonly #pages: number;
  readonly #options: LmdbCheckOptions;
  /** One byte a page: 1 once it was met. */
  readonly #met: Uint8Array;
  #metCount = 0;
  #freeInFile = 0;

  constructor(fd: number, size: number, options: LmdbCheckOptions) {
    this.#fd = fd;
    this.#pages = Math.floor(size / PAGE_SIZE);
    this.#options = options;
    this.#met = new Uint8Array(this.#pages);
  }

  run(): void {
    if (this.#pages < 2) throw new Fault("file is shorter than its meta pages");
    const metas = [this.#meta(0), this.#meta(1)] as const;
    const meta = metas[0].transaction >= metas[1].transaction ? metas[0] : metas[1];
    this.#take(0, "meta page");
    this.#take(1, "meta page");
    this.#walk(meta.main, meta, (key, stored, page) => {
      if (!this.#options.isRowIntact(key, stored)) {
        throw new Fault(`row ${Buffer.from(key).toString("hex")} in page ${page} is damaged`);
      }
    });
    let free = 0;
    this.#walk(meta.free, meta, (_key, stored, page) => {
      free += this.#takeFree(stored, page, meta.lastPage);
    });
    const used = this.#metCount - this.#freeInFile;
    if (used + free !== meta.lastPage + 1) {
      throw new Fault(`${meta.lastPage + 1 - used - free} pages are neither in use nor free`);
    }
  }

  #meta(number: number): Meta {
    const page = this.#read(number, 1);
    const isMeta =
      (page.readUInt16LE(18) & KIND) === PAGE_KIND.meta &&
      page.readUInt32LE(META_OFFSET.magic) === MAGIC &&
      page.readUInt32LE(META_OFFSET.version) === VERSION &&
      page.readBigUInt64LE(0) === BigInt(number) &&
      page.readBigUInt64LE(32) === 0n;
    const isOurs =
      page.readUInt32LE(META_OFFSET.freeTree) === PAGE_SIZE &&
      page.readUInt16LE(META_OFFSET.freeTree + TREE_OFFSET.flags) === INTEGER_KEYS &&
      page.readUInt32LE(META_OFFSET.mainTree) === 0 &&
      page.readUInt16LE(META_OFFSET.mainTree + TREE_OFFSET.flags) === 0;
    const mapSize = word(page, META_OFFSET.mapSize);
    // The map grows with the file; one that is far larger than the file was never asked for.
    const isMapOurs = mapSize % PAGE_SIZE === 0 && mapSize <= 2 ** 44;
    if (!isMeta || !isOurs || !isMapOurs) throw new Fault(`meta page ${number} is damaged`);
    return {
      free: readTree(page, META_OFFSET.freeTree, "free tree"),
      main: readTree(page, META_OFFSET.mainTree, "main tree"),
      lastPage: word(page, META_OFFSET.lastPage),
      transaction: word(page, META_OFFSET.transaction),
    };
  }

  /** Meets every page of a tree once, and shows its rows. */
  #walk(tree: Tree, meta: Meta, visit: RowVisitor): void {
    const counts: Counts = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
    const order = tree === meta.free ? compareIntegers : Buffer.compare;
    if (tree.root !== undefined) {
      this.#node({ tree, counts, order, visit }, tree.root, {
        depth: 1,
        newest: meta.transaction,
        low: undefined,
        high: undefined,
      });
    }
    for (const name of ["branches", "leaves", "overflows", "entries"] as const) {
      if (counts[name] === tree[name]) continue;
      throw new Fault(`${tree.name} has ${counts[name]} ${name}, its meta page says ${tree[name]}`);
    }
  }

  #node(walk: Walk, number: number, { depth, newest, low, high }: Expected): void {
    const { tree, counts, order, visit } = walk;
    this.#take(number, tree.name);
    const page = this.#read(number, 1);
    const transaction = this.#header(page, number, newest);
    const isLeaf = depth === tree.depth;
    const lower = page.readUInt16LE(20);
    const upper = page.readUInt16LE(22);
    if (depth > tree.depth || (page.readUInt16LE(18) & KIND) !== (isLeaf ? PAGE_KIND.leaf : PAGE_KIND.branch)) {
      throw new Fault(`page ${number} is not what a tree of depth ${tree.depth} has there`);
    }
    const keys = lower >> 1;
    if (lower % 2 !== 0 || lower > upper || upper > PAGE_SIZE - PAGE_HEADER || keys < (isLeaf ? 1 : 2)) {
      throw new Fault(`page ${number} has a damaged header`);
    }
    if (isLeaf) counts.leaves++;
    else counts.branches++;

    const nodeAt = (index: number): { readonly at: number; readonly key: Buffer } => {
      const at = PAGE_HEADER + page.readUInt16LE(PAGE_HEADER + index * 2);
      const end = at + 8 <= PAGE_SIZE ? at + 8 + page.readUInt16LE(at + 6) : Infinity;
      if (at < PAGE_HEADER + upper || end > PAGE_SIZE) {
        throw new Fault(`page ${number} has a damaged node`);
      }
      return { at, key: page.subarray(at + 8, end) };
    };
    let last = low;
    for (let index = 0; index < keys; index++) {
      const { at, key } = nodeAt(index);
      // The first key of a branch is empty: its child begins where the branch does.
      const isLowest = !isLeaf && index === 0;
      if (!isLowest) {
        const isAfter = last === undefined || order(key, last) >= (isLeaf && index === 0 ? 0 : 1);
        if (!isAfter || (high !== undefined && order(key, high) >= 0)) {
          throw new Fault(`page ${number} has a key out of order`);
        }
      }
      if (isLeaf) {
        counts.entries++;
        visit(key, this.#value(page, number, at, transaction, walk), number);
        last = key;
        continue;
      }
      const child = page.readUInt32LE(at) + page.readUInt16LE(at + 4) * 2 ** 32;
      this.#node(walk, child, {
        depth: depth + 1,
        newest: transaction,
        low: isLowest ? low : key,
        high: index + 1 < keys ? nodeAt(index + 1).key : high,
      });
      if (!isLowest) last = key;
    }
  }

  /** The bytes of a row, wherever they are. */
  #value(page: Buffer, number: number, at: number, newest: number, { tree, counts }: Walk): Buffer {
    const length = page.readUInt16LE(at) + page.readUInt16LE(at + 2) * 2 ** 16;
    const flags = page.readUInt16LE(at + 4);
    const start = at + 8 + page.readUInt16LE(at + 6);
    const inPage = flags === BIG_DATA ? BIG_DATA_LENGTH : length;
    if (flags > BIG_DATA || start + inPage > PAGE_SIZE) {
      throw new Fault(`page ${number} has a damaged node`);
    }
    if (flags === 0) return page.subarray(start, start + length);
    const first = word(page, start);
    const count = word(page, start + 16);
    if (count !== overflowPages(length)) {
      throw new Fault(`page ${number} names overflow pages of another size`);
    }
    for (let each = 0; each < count; each++) this.#take(first + each, tree.name);
    const pages = this.#read(first, count);
    this.#header(pages, first, newest);
    if ((pages.readUInt16LE(18) & KIND) !== PAGE_KIND.overflow || pages.readUInt32LE(20) !== count) {
      throw new Fault(`page ${first} is no overflow page of ${count}`);
    }
    counts.overflows += count;
    return pages.subarray(PAGE_HEADER, PAGE_HEADER + length);
  }

  /** Number and age of a page; the transaction that wrote it. */
  #header(page: Buffer, number: number, newest: number): number {
    if (page.readBigUInt64LE(0) !== BigInt(number)) {
      throw new Fault(`page ${number} holds another page`);
    }
    const transaction = word(page, 8);
    if (transaction > newest) throw new Fault(`page ${number} is newer than what refers to it`);
    return transaction;
  }

  /** Marks the pages of a free list; how many there are. */
  #takeFree(list: Buffer, page: number, lastPage: number): number {
    if (list.length % 8 !== 0 || list.length < 8 || word(list, 0) * 8 + 8 > list.length) {
      throw new Fault(`page ${page} has a damaged free list`);
    }
    const entries = word(list, 0);
    let free = 0;
    for (let index = 1; index <= entries; index++) {
      const entry = list.readBigInt64LE(index * 8);
      if (entry === 0n) continue;
      const length = entry < 0n ? Number(-entry) : 1;
      if (entry < 0n) index++;
      const first = index <= entries ? word(list, index * 8) : NaN;
      if (!(first >= 2 && first + length - 1 <= lastPage)) {
        throw new Fault(`page ${page} has a damaged free list`);
      }
      // The file may end before the last pages where those are free.
      for (let each = first; each < first + length; each++) {
        if (each < this.#pages) {
          this.#take(each, "free list");
          this.#freeInFile++;
        }
      }
      free += length;
    }
    return free;
  }

  #take(number: number, what: string): void {
    if (!(number < this.#pages)) throw new Fault(`${what} refers to page ${number} beyond the file`);
    if (this.#met[number] === 1) throw new Fault(`${what} refers to page ${number} a second time`);
    this.#met[number] = 1;
    this.#metCount++;
    if (this.#metCount % PROGRESS_PAGES === 0) {
      const done = this.#metCount * PAGE_SIZE;
      this.#options.onProgress?.({ done, total: this.#pages * PAGE_SIZE });
    }
  }

  #read(number: number, count: number): Buffer {
    const bytes = Buffer.allocUnsafe(count * PAGE_SIZE);
    const length = readSync(this.#fd, bytes, 0, bytes.length, number * PAGE_SIZE);
    if (length < bytes.length) throw new Fault(`file ends inside page ${number}`);
    return bytes;
  }
}

function readTree(page: Buffer, at: number, name: string): Tree {
  const root = page.readBigUInt64LE(at + TREE_OFFSET.root);
  return {
    name,
    depth: page.readUInt16LE(at + TREE_OFFSET.depth),
    branches: word(page, at + TREE_OFFSET.branches),
    leaves: word(page, at + TREE_OFFSET.leaves),
    overflows: word(page, at + TREE_OFFSET.overflows),
    entries: word(page, at + TREE_OFFSET.entries),
    root: root === NO_PAGE ? undefined : word(page, at + TREE_OFFSET.root),
  };
}

/** A u64; one beyond 2^53 is no longer exact, and no number or size of a page either. */
function word(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

function compareIntegers(a: Buffer, b: Buffer): number {
  if (a.length !== 8 || b.length !== 8) return a.length - b.length;
  const left = a.readBigUInt64LE(0);
  const right = b.readBigUInt64LE(0);
  return left < right ? -1 : left > right ? 1 : 0;
}
