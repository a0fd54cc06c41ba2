import { fstatSync } from "node:fs";
import { INTEGER_KEYS, MAGIC, META_OFFSET, NO_PAGE, PAGE_KIND, PAGE_SIZE, TREE_OFFSET, VERSION } from "./lmdb-pages.ts";
import { isLmdbRowIntact } from "./lmdb-row.ts";
import {
  type CheckedFile,
  compareBytes,
  LmdbFault,
  meetPage,
  PAGE_KIND_MASK,
  readPages,
  type Subtree,
  TreeCheck,
  type TreeCounts,
  type TreeKind,
  word,
} from "./lmdb-tree-check.ts";

type Tree = TreeCounts & {
  readonly depth: number;
  /** undefined: the tree is empty */
  readonly root: number | undefined;
};

type Meta = {
  readonly free: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly transaction: number;
};

const MAIN_TREE: TreeKind = {
  name: "main tree",
  compare: compareBytes,
  row(key, keyStart, keyEnd, value, valueStart, valueEnd, page) {
    if (isLmdbRowIntact(key, keyStart, keyEnd, value, valueStart, valueEnd)) return;
    throw new LmdbFault(`row ${key.toString("hex", keyStart, keyEnd)} in page ${page} is damaged`);
  },
};

/**
 * The check of a data file (lmdb-pages.ts) without LMDB, which ends the process on pages that are not its own.
 *
 * Each page holds its own number, no page is newer than the one that refers to it, keys ascend between the keys
 * of their branch, every row carries a checksum, each tree has the pages and entries that its meta page counts,
 * and every page of the file is in use once or free. So a page that was zeroed, changed, lost or replaced by an older
 * one is found.
 *
 * It covers the file as the last commit before it left it. Later commits do not disturb it as long as they do not reuse the pages of that commit.
 */
export type FileCheck = { readonly checked: CheckedFile; readonly meta: Meta };

/** @param file which stays open until the check has ended @throws LmdbFault */
export function beginFileCheck(file: number): FileCheck {
  const meta = readMeta(file);
  const pages = Math.floor(fstatSync(file).size / PAGE_SIZE);
  const checked = { file, met: new Uint8Array(new SharedArrayBuffer(pages)) };
  for (const number of [0, 1]) meetPage(checked, number, "meta page");
  return { checked, meta };
}

/** To be called once every page of the main tree was visited. @param counts of that tree @throws LmdbFault */
export function finishFileCheck({ checked, meta }: FileCheck, counts: TreeCounts): void {
  assertCounts(MAIN_TREE.name, counts, meta.main);
  checkFreePages(checked, meta);
}

/** Checks pages of the main tree. @param depth of the whole tree @param onPages called about once a MiB */
export function mainTreeCheck(checked: CheckedFile, depth: number, onPages: (pages: number) => void): TreeCheck {
  return new TreeCheck(checked, depth, MAIN_TREE, onPages);
}

/** Parts of the main tree that are checked one by one: enough of them for several threads to end at about the same time. */
const SUBTREES_MIN = 64;

/** Parts of the main tree; the branches above them are checked here. */
export function divideMainTree(tree: TreeCheck, { main, transaction }: Meta): readonly Subtree[] {
  let subtrees: readonly Subtree[] = main.root === undefined ? [] : [rootOf(main.root, transaction)];
  while (subtrees.length > 0 && subtrees.length < SUBTREES_MIN && subtrees[0]!.depth < main.depth) {
    subtrees = subtrees.flatMap((subtree) => tree.expand(subtree));
  }
  return subtrees;
}

/** Visits the pages of the free tree and the pages that it lists. Then every page up to the last was visited. */
function checkFreePages(checked: CheckedFile, { free: tree, lastPage, transaction }: Meta): void {
  let free = 0;
  let freeInFile = 0;
  const kind: TreeKind = {
    name: "free tree",
    compare: compareIntegers,
    row(_key, _keyStart, _keyEnd, list, start, end, page) {
      const { pages, inFile } = meetFree(checked, list.subarray(start, end), page, lastPage);
      free += pages;
      freeInFile += inFile;
    },
  };
  const check = new TreeCheck(checked, tree.depth, kind);
  if (tree.root !== undefined) check.check(rootOf(tree.root, transaction));
  assertCounts(kind.name, check.counts, tree);
  let met = 0;
  for (const each of checked.met) met += each;
  const used = met - freeInFile;
  if (used + free !== lastPage + 1) {
    throw new LmdbFault(`${lastPage + 1 - used - free} pages are neither in use nor free`);
  }
}

function rootOf(page: number, transaction: number): Subtree {
  return { page, depth: 1, newest: transaction, low: undefined, high: undefined };
}

function assertCounts(name: string, counts: TreeCounts, tree: Tree): void {
  for (const count of ["branches", "leaves", "overflows", "entries"] as const) {
    if (counts[count] === tree[count]) continue;
    throw new LmdbFault(`${name} has ${counts[count]} ${count}, its meta page says ${tree[count]}`);
  }
}

/** Marks the pages of a free list. */
function meetFree(checked: CheckedFile, list: Buffer, page: number, lastPage: number) {
  const damaged = () => new LmdbFault(`page ${page} has a damaged free list`);
  if (list.length % 8 !== 0 || list.length < 8 || word(list, 0) * 8 + 8 > list.length) throw damaged();
  const entries = word(list, 0);
  let pages = 0;
  let inFile = 0;
  for (let index = 1; index <= entries; index++) {
    const entry = list.readBigInt64LE(index * 8);
    if (entry === 0n) continue;
    const length = entry < 0n ? Number(-entry) : 1;
    if (entry < 0n) index++;
    const first = index <= entries ? word(list, index * 8) : NaN;
    if (!(first >= 2 && first + length - 1 <= lastPage)) throw damaged();
    // The file may end before the last pages where those are free.
    for (let each = first; each < first + length && each < checked.met.length; each++) {
      meetPage(checked, each, "free list");
      inFile++;
    }
    pages += length;
  }
  return { pages, inFile };
}

/** The newer of both meta pages, which are whole. */
function readMeta(file: number): Meta {
  const bytes = Buffer.alloc(2 * PAGE_SIZE);
  readPages(file, bytes, 0, 2);
  const [first, second] = [0, 1].map((number) =>
    metaOf(bytes.subarray(number * PAGE_SIZE, (number + 1) * PAGE_SIZE), number),
  ) as [Meta, Meta];
  return first.transaction >= second.transaction ? first : second;
}

function metaOf(page: Buffer, number: number): Meta {
  const isMeta =
    (page.readUInt16LE(18) & PAGE_KIND_MASK) === PAGE_KIND.meta &&
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
  // The map grows with the file: no writer requests one that is far larger.
  const isMapOurs = mapSize % PAGE_SIZE === 0 && mapSize <= 2 ** 44;
  if (!isMeta || !isOurs || !isMapOurs) throw new LmdbFault(`meta page ${number} is damaged`);
  return {
    free: treeOf(page, META_OFFSET.freeTree),
    main: treeOf(page, META_OFFSET.mainTree),
    lastPage: word(page, META_OFFSET.lastPage),
    transaction: word(page, META_OFFSET.transaction),
  };
}

function treeOf(page: Buffer, at: number): Tree {
  const root = page.readBigUInt64LE(at + TREE_OFFSET.root);
  return {
    depth: page.readUInt16LE(at + TREE_OFFSET.depth),
    branches: word(page, at + TREE_OFFSET.branches),
    leaves: word(page, at + TREE_OFFSET.leaves),
    overflows: word(page, at + TREE_OFFSET.overflows),
    entries: word(page, at + TREE_OFFSET.entries),
    root: root === NO_PAGE ? undefined : word(page, at + TREE_OFFSET.root),
  };
}

const compareIntegers: TreeKind["compare"] = (a, aStart, aEnd, b, bStart, bEnd) => {
  if (aEnd - aStart !== 8 || bEnd - bStart !== 8) return aEnd - aStart - (bEnd - bStart);
  // Little-endian: the last byte counts most.
  for (let i = 7; i >= 0; i--) {
    const difference = a[aStart + i]! - b[bStart + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
};
