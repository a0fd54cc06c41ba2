/**
 * The data file of LMDB (format 2 of liblmdb, as lmdb-js builds it). lmdb-check.ts reads it, lmdb-build.ts writes it.
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
