import { readSync } from "node:fs";
import {
  BIG_DATA,
  BIG_DATA_LENGTH,
  NODE_HEADER,
  overflowPages,
  PAGE_HEADER,
  PAGE_KIND,
  PAGE_SIZE,
} from "./lmdb-pages.ts";

/** Bits of the flags that say what a page is. */
export const PAGE_KIND_MASK = 0xfff;

/** Leaves that are read together, in the order of the file: those of some dozen branches. */
const LEAVES_AT_ONCE = 4_096;
/** Pages that one call reads. */
const RUN_PAGES = 256;
/** Up to this many foreign pages between two leaves are read with them, which costs less than a second call. */
const GAP_PAGES = 4;

/** Says what is wrong in a file, and where; never leaves the check. */
export class LmdbFault extends Error {}

/** A page with everything below it, and what the page above says of it. */
export type Subtree = {
  readonly page: number;
  /** 1 for the root */
  readonly depth: number;
  /** The transaction that wrote the page above. */
  readonly newest: number;
  /** Lowest key that may be below the page; undefined: no bound. */
  readonly low: Uint8Array | undefined;
  /** The first key that may not. */
  readonly high: Uint8Array | undefined;
};

export type TreeCounts = { branches: number; leaves: number; overflows: number; entries: number };

/** How keys of a tree are ordered, and what its rows are. */
export type TreeKind = {
  readonly name: string;
  /** Below 0 where the first key comes before the second. */
  compare(a: Uint8Array, aStart: number, aEnd: number, b: Uint8Array, bStart: number, bEnd: number): number;
  /** @throws LmdbFault where the row in `page` is not one that was written. The bytes of `key` and `value` are overwritten afterwards. */
  row(
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer,
    valueStart: number,
    valueEnd: number,
    page: number,
  ): void;
};

/** The file that is checked, which several threads can do together. */
export type CheckedFile = {
  readonly file: number;
  /** One byte a page: 1 once it was met. */
  readonly met: Uint8Array<SharedArrayBuffer>;
};

/** Marks a page, which must be in the file and not met before. */
export function meetPage({ met }: CheckedFile, page: number, what: string): void {
  if (!(page < met.length)) throw new LmdbFault(`${what} refers to page ${page} beyond the file`);
  if (Atomics.exchange(met, page, 1) === 1) throw new LmdbFault(`${what} refers to page ${page} a second time`);
}

/** Checks every page of parts of a tree: branches as they come, leaves in the order of the file. */
export class TreeCheck {
  readonly counts: TreeCounts = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
  readonly #checked: CheckedFile;
  readonly #depth: number;
  readonly #kind: TreeKind;
  #leaves: Subtree[] = [];
  readonly #run = Buffer.allocUnsafeSlow(RUN_PAGES * PAGE_SIZE);
  readonly #runWords = new Uint16Array(this.#run.buffer);
  readonly #onPages: (pages: number) => void;

  /** @param depth of the whole tree @param onPages called now and then, with the number of pages since */
  constructor(checked: CheckedFile, depth: number, kind: TreeKind, onPages: (pages: number) => void = () => {}) {
    this.#checked = checked;
    this.#depth = depth;
    this.#kind = kind;
    this.#onPages = onPages;
  }

  /** @throws LmdbFault */
  check(subtree: Subtree): void {
    this.#descend(subtree);
    this.#checkLeaves();
  }

  /** The pages below a branch, which is checked itself; the subtree where its page is a leaf. */
  expand(subtree: Subtree): readonly Subtree[] {
    return subtree.depth < this.#depth ? this.#branch(subtree) : [subtree];
  }

  #descend(subtree: Subtree): void {
    if (subtree.depth < this.#depth) {
      for (const child of this.#branch(subtree)) this.#descend(child);
      return;
    }
    this.#leaves.push(subtree);
    if (this.#leaves.length === LEAVES_AT_ONCE) this.#checkLeaves();
  }

  #branch({ page: number, depth, newest, low, high }: Subtree): Subtree[] {
    meetPage(this.#checked, number, this.#kind.name);
    const bytes = this.#read(number, 1);
    const words = new Uint16Array(bytes.buffer);
    const transaction = checkHeader(bytes, 0, number, newest);
    const keys = this.#keys(words, 0, number, PAGE_KIND.branch);
    this.counts.branches++;
    const children: Subtree[] = [];
    let last = low;
    for (let index = 0; index < keys; index++) {
      const at = nodeAt(words, 0, index, number);
      const start = at + NODE_HEADER;
      const end = start + words[(at + 6) >> 1]!;
      // The first key of a branch is empty: its child begins where the branch does.
      const key = index === 0 ? low : bytes.subarray(start, end);
      if (index > 0) {
        const isAfter = last === undefined || this.#compare(key!, last) > 0;
        if (!isAfter || (high !== undefined && this.#compare(key!, high) >= 0)) throw outOfOrder(number);
        last = key;
        children[index - 1] = { ...children[index - 1]!, high: key };
      }
      const page = bytes.readUInt32LE(at) + words[(at + 4) >> 1]! * 2 ** 32;
      children.push({ page, depth: depth + 1, newest: transaction, low: key, high });
    }
    return children;
  }

  #compare(a: Uint8Array, b: Uint8Array): number {
    return this.#kind.compare(a, 0, a.length, b, 0, b.length);
  }

  #checkLeaves(): void {
    const leaves = this.#leaves.sort((a, b) => a.page - b.page);
    this.#leaves = [];
    for (const { page } of leaves) meetPage(this.#checked, page, this.#kind.name);
    for (let first = 0; first < leaves.length; ) {
      const base = leaves[first]!.page;
      let end = first + 1;
      while (
        end < leaves.length &&
        leaves[end]!.page - leaves[end - 1]!.page <= GAP_PAGES &&
        leaves[end]!.page - base < RUN_PAGES
      ) {
        end++;
      }
      const pages = leaves[end - 1]!.page - base + 1;
      readPages(this.#checked.file, this.#run, base, pages);
      for (; first < end; first++) this.#leaf((leaves[first]!.page - base) * PAGE_SIZE, leaves[first]!);
      this.#onPages(pages);
    }
  }

  /** @param at of the page in `#run` */
  #leaf(at: number, { page: number, newest, low, high }: Subtree): void {
    const bytes = this.#run;
    const words = this.#runWords;
    const transaction = checkHeader(bytes, at, number, newest);
    const keys = this.#keys(words, at, number, PAGE_KIND.leaf);
    const { compare, row } = this.#kind;
    this.counts.leaves++;
    this.counts.entries += keys;
    let lastStart = 0;
    let lastEnd = 0;
    for (let index = 0; index < keys; index++) {
      const node = nodeAt(words, at, index, number);
      const start = node + NODE_HEADER;
      const end = start + words[(node + 6) >> 1]!;
      if (index > 0) {
        if (compare(bytes, start, end, bytes, lastStart, lastEnd) <= 0) throw outOfOrder(number);
      } else if (low !== undefined && compare(bytes, start, end, low, 0, low.length) < 0) {
        throw outOfOrder(number);
      }
      lastStart = start;
      lastEnd = end;
      const length = words[node >> 1]! + words[(node + 2) >> 1]! * 2 ** 16;
      const flags = words[(node + 4) >> 1]!;
      if (flags > BIG_DATA || end + (flags === BIG_DATA ? BIG_DATA_LENGTH : length) > at + PAGE_SIZE) {
        throw damagedNode(number);
      }
      if (flags === 0) {
        row(bytes, start, end, bytes, end, end + length, number);
      } else {
        const value = this.#overflow(end, length, number, transaction);
        row(bytes, start, end, value, PAGE_HEADER, PAGE_HEADER + length, number);
      }
    }
    // Keys ascend, so the last one is the highest.
    if (high !== undefined && compare(bytes, lastStart, lastEnd, high, 0, high.length) >= 0) throw outOfOrder(number);
  }

  /** The pages of a value that has its own. @param at of what the leaf `number` has in its place */
  #overflow(at: number, length: number, number: number, newest: number): Buffer {
    const first = word(this.#run, at);
    const count = word(this.#run, at + 16);
    if (count !== overflowPages(length)) throw new LmdbFault(`page ${number} names overflow pages of another size`);
    for (let each = 0; each < count; each++) meetPage(this.#checked, first + each, this.#kind.name);
    const bytes = this.#read(first, count);
    checkHeader(bytes, 0, first, newest);
    if ((bytes.readUInt16LE(18) & PAGE_KIND_MASK) !== PAGE_KIND.overflow || bytes.readUInt32LE(20) !== count) {
      throw new LmdbFault(`page ${first} is no overflow page of ${count}`);
    }
    this.counts.overflows += count;
    return bytes;
  }

  /** The number of nodes of a page whose kind and bounds are right. */
  #keys(words: Uint16Array, at: number, number: number, kind: number): number {
    if ((words[(at + 18) >> 1]! & PAGE_KIND_MASK) !== kind) {
      throw new LmdbFault(`page ${number} is not what a tree of depth ${this.#depth} has there`);
    }
    const lower = words[(at + 20) >> 1]!;
    const upper = words[(at + 22) >> 1]!;
    const keys = lower >> 1;
    const keysMin = kind === PAGE_KIND.leaf ? 1 : 2;
    if (lower % 2 !== 0 || lower > upper || upper > PAGE_SIZE - PAGE_HEADER || keys < keysMin) {
      throw new LmdbFault(`page ${number} has a damaged header`);
    }
    return keys;
  }

  #read(first: number, count: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(count * PAGE_SIZE);
    readPages(this.#checked.file, bytes, first, count);
    return bytes;
  }
}

/** Where a node of the page at `at` is, whose header and key are inside of the page. */
function nodeAt(words: Uint16Array, at: number, index: number, number: number): number {
  const offset = words[((at + PAGE_HEADER) >> 1) + index]!;
  const upper = words[(at + 22) >> 1]!;
  const node = PAGE_HEADER + offset;
  if (
    offset < upper ||
    offset % 2 !== 0 ||
    node + NODE_HEADER > PAGE_SIZE ||
    node + NODE_HEADER + words[(at + node + 6) >> 1]! > PAGE_SIZE
  ) {
    throw damagedNode(number);
  }
  return at + node;
}

/** Number and age of a page; the transaction that wrote it. */
function checkHeader(bytes: Buffer, at: number, number: number, newest: number): number {
  if (word(bytes, at) !== number) throw new LmdbFault(`page ${number} holds another page`);
  const transaction = word(bytes, at + 8);
  if (transaction > newest) throw new LmdbFault(`page ${number} is newer than what refers to it`);
  return transaction;
}

export function readPages(file: number, into: Buffer, first: number, count: number): void {
  const length = readSync(file, into, 0, count * PAGE_SIZE, first * PAGE_SIZE);
  if (length < count * PAGE_SIZE)
    throw new LmdbFault(`file ends inside page ${first + Math.floor(length / PAGE_SIZE)}`);
}

/** A u64; one beyond 2^53 is no longer exact, and no number or size of a page either. */
export function word(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

/** As Buffer.compare, of parts. */
export const compareBytes: TreeKind["compare"] = (a, aStart, aEnd, b, bStart, bEnd) => {
  const end = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < end; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!;
    if (difference !== 0) return difference;
  }
  return aEnd - aStart - (bEnd - bStart);
};

function outOfOrder(page: number): LmdbFault {
  return new LmdbFault(`page ${page} has a key out of order`);
}

function damagedNode(page: number): LmdbFault {
  return new LmdbFault(`page ${page} has a damaged node`);
}
