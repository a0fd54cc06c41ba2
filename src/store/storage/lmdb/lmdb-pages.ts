/**
 * The data file of LMDB (format 2 of liblmdb, as lmdb-js builds it). lmdb-file-check.ts and lmdb-tree-check.ts read it, lmdb-build.ts writes it.
 *
 *     file      page of 4,096 bytes*: two meta pages, then pages of the trees and free ones
 *     page      number u64 ‖ transaction u64 ‖ 0 u16 ‖ flags u16 ‖ lower u16 ‖ upper u16
 *               ‖ offset of each node, from byte 24, u16* ‖ … ‖ node*
 *     node      low u16 ‖ high u16 ‖ flags u16 ‖ key length u16 ‖ key ‖ value
 *     meta      header 24 ‖ magic u32 ‖ version u32 ‖ 0 u64 ‖ map size u64 ‖ free tree ‖ main tree
 *               ‖ last page u64 ‖ transaction u64 ‖ boot u64
 *     tree      page size u32 ‖ flags u16 ‖ depth u16 ‖ branch, leaf and overflow pages u64 ‖ entries u64 ‖ root u64
 *
 * A branch node's low, high and flags are the number of its page. A leaf's low and high are the length of its
 * value, which with flag 1 is on overflow pages that page, transaction and count u64 in its place name. A row of
 * the free tree lists free pages: count u64, then a page each, or minus a length and the first page of a run.
 * Nodes begin at even offsets; `lower` and `upper` count from the end of the header.
 */
export const PAGE_SIZE = 4096;
export const PAGE_HEADER = 24;
export const MAGIC = 0xbeefc0de;
export const VERSION = 2;
/** Root of an empty tree. */
export const NO_PAGE = 0xffff_ffff_ffff_ffffn;

/** Bits of the flags that say what a page is. */
export const PAGE_KIND = { branch: 1, leaf: 2, overflow: 4, meta: 8 } as const;
export const NODE_HEADER = 8;
/** Flag of a leaf node whose value is on overflow pages, and the bytes in its place. */
export const BIG_DATA = 1;
export const BIG_DATA_LENGTH = 24;
/** Flag of the free tree. */
export const INTEGER_KEYS = 8;

/** Where the parts of a meta page are. */
export const META_OFFSET = {
  magic: 24,
  version: 28,
  mapSize: 40,
  freeTree: 48,
  mainTree: 96,
  lastPage: 144,
  transaction: 152,
} as const;

/** Where the parts of a tree are. */
export const TREE_OFFSET = {
  flags: 4,
  depth: 6,
  branches: 8,
  leaves: 16,
  overflows: 24,
  entries: 32,
  root: 40,
} as const;

/** Overflow pages of a value of `length` bytes: one header for all of them. */
export function overflowPages(length: number): number {
  return Math.floor((PAGE_HEADER - 1 + length) / PAGE_SIZE) + 1;
}

/** The transaction number of all pages in a file that LMDB has not written yet. */
export const TRANSACTION = 1;

const PAGE_SPACE = PAGE_SIZE - PAGE_HEADER;

/** A page by the first key below it. */
export type PageRef = { readonly key: Uint8Array; readonly page: number };

export type TreeCounts = {
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflows: number;
  readonly entries: number;
  readonly root: number;
};

/** Writes the header except the page's number. An overflow page has its count instead of the two bounds. */
export function putPageHeader(page: Buffer, kind: keyof typeof PAGE_KIND, lower: number, upper: number): void {
  page.fill(0, 0, PAGE_HEADER);
  page.writeUInt32LE(TRANSACTION, 8);
  page.writeUInt16LE(PAGE_KIND[kind], 18);
  page.writeUInt16LE(lower, 20);
  page.writeUInt16LE(upper, 22);
}

/** The branches above pages in the order of their keys, two or more. */
export function branchPages(children: readonly PageRef[], addPage: (page: Buffer) => number): PageRef[] {
  const branches: PageRef[] = [];
  for (let first = 0; first < children.length; ) {
    let end = first;
    for (let space = PAGE_SPACE; end < children.length; end++) {
      space -= 2 + nodeSize(children[end]!, end === first);
      if (space < 0) break;
    }
    // A branch has two children or more.
    if (end === children.length - 1) end--;
    const below = children.slice(first, end);
    branches.push({ key: below[0]!.key, page: addPage(branchPage(below)) });
    first = end;
  }
  return branches;
}

function branchPage(children: readonly PageRef[]): Buffer {
  const page = Buffer.alloc(PAGE_SIZE);
  let upper = PAGE_SPACE;
  for (const [i, child] of children.entries()) {
    upper -= nodeSize(child, i === 0);
    page.writeUInt16LE(upper, PAGE_HEADER + i * 2);
    const at = PAGE_HEADER + upper;
    page.writeUIntLE(child.page, at, 6);
    // The first child begins where the branch does.
    if (i === 0) continue;
    page.writeUInt16LE(child.key.length, at + 6);
    page.set(child.key, at + NODE_HEADER);
  }
  putPageHeader(page, "branch", children.length * 2, upper);
  return page;
}

function nodeSize({ key }: PageRef, isFirst: boolean): number {
  return NODE_HEADER + (isFirst ? 0 : key.length + (key.length & 1));
}

/** A meta page; LMDB uses that of the newer transaction. @param pages of the file */
export function metaPage({
  number,
  pages,
  tree,
}: {
  readonly number: 0 | 1;
  readonly pages: number;
  /** undefined: no rows */
  readonly tree: TreeCounts | undefined;
}): Buffer {
  const page = Buffer.alloc(PAGE_SIZE);
  page.writeUInt32LE(number, 0);
  page.writeUInt16LE(PAGE_KIND.meta, 18);
  page.writeUInt32LE(MAGIC, META_OFFSET.magic);
  page.writeUInt32LE(VERSION, META_OFFSET.version);
  putWord(page, META_OFFSET.mapSize, pages * PAGE_SIZE);
  page.writeUInt32LE(PAGE_SIZE, META_OFFSET.freeTree);
  page.writeUInt16LE(INTEGER_KEYS, META_OFFSET.freeTree + TREE_OFFSET.flags);
  putRoot(page, META_OFFSET.freeTree, undefined);
  if (tree !== undefined) {
    page.writeUInt16LE(tree.depth, META_OFFSET.mainTree + TREE_OFFSET.depth);
    for (const name of ["branches", "leaves", "overflows", "entries"] as const) {
      putWord(page, META_OFFSET.mainTree + TREE_OFFSET[name], tree[name]);
    }
  }
  putRoot(page, META_OFFSET.mainTree, tree?.root);
  putWord(page, META_OFFSET.lastPage, pages - 1);
  putWord(page, META_OFFSET.transaction, number === 0 ? 0 : TRANSACTION);
  return page;
}

function putRoot(page: Buffer, tree: number, root: number | undefined): void {
  page.writeBigUInt64LE(root === undefined ? NO_PAGE : BigInt(root), tree + TREE_OFFSET.root);
}

function putWord(page: Buffer, offset: number, value: number): void {
  page.writeUInt32LE(value % 2 ** 32, offset);
  page.writeUInt32LE(Math.floor(value / 2 ** 32), offset + 4);
}
