import {
  INTEGER_KEYS,
  MAGIC,
  META_OFFSET,
  NO_PAGE,
  NODE_HEADER,
  PAGE_HEADER,
  PAGE_KIND,
  PAGE_SIZE,
  TREE_OFFSET,
  VERSION,
} from "./lmdb-format.ts";

/** The transaction that all pages of a file are of which LMDB has not written. */
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

/** Writes the header but for the page's number. An overflow page has its count in place of both bounds. */
export function putPageHeader(
  page: Buffer,
  kind: keyof typeof PAGE_KIND,
  lower: number,
  upper: number,
): void {
  page.fill(0, 0, PAGE_HEADER);
  page.writeUInt32LE(TRANSACTION, 8);
  page.writeUInt16LE(PAGE_KIND[kind], 18);
  page.writeUInt16LE(lower, 20);
  page.writeUInt16LE(upper, 22);
}

/** The branches above pages in the order of their keys, two or more. */
export function branchPages(
  children: readonly PageRef[],
  addPage: (page: Buffer) => number,
): PageRef[] {
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
