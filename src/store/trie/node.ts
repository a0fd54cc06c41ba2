import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { InvalidRlpError } from "../../base/primitives/rlp.ts";
import { isLeafPath, readHexPrefix } from "./nibbles.ts";

/**
 * Nodes are worked on in their RLP form (Yellow Paper, appendix D); taking them apart into objects costs more than it saves.
 *
 *     leaf       [hex-prefix path, value]
 *     extension  [hex-prefix path, reference]
 *     branch     [reference × 16, value]
 *     reference  0x80 nothing; 0xa0 ‖ keccak256(node); or the node itself when it has less than 32 bytes
 *
 * In memory a reference is the hash alone, so its length says which of the two it is.
 */

/** A leaf or extension taken apart, or a branch as it is. */
export type DecodedNode = ShortNode | BranchNode;

/** Views of the node's RLP, but for the path. */
export type ShortNode = {
  readonly kind: "leaf" | "extension";
  readonly path: Uint8Array;
  /** value of the leaf, or reference of the extension's child */
  readonly payload: Uint8Array;
};

export type BranchNode = {
  readonly kind: "branch";
  readonly rlp: Uint8Array;
  /** Where each of the 17 items begins, and where the last one ends. */
  readonly offsets: ArrayLike<number>;
};

const NOTHING = 0x80;
/** Begins the item of a hash. */
export const HASH_ITEM = 0x80 + 32;

/** Children and value of a branch. */
export const BRANCH_ITEMS = 17;

/** Length of a reference by hash; an embedded node is shorter. */
export const HASH_LENGTH = 32;

/** @throws InvalidRlpError when `rlp` is not a list of 2 or 17 items */
export function decodeNode(rlp: Uint8Array): DecodedNode {
  const offsets = new Int32Array(BRANCH_ITEMS + 1);
  if (readItems(rlp, offsets) === BRANCH_ITEMS) return { kind: "branch", rlp, offsets };
  return decodeShortNode(rlp, offsets[0]!, offsets[1]!);
}

/**
 * Writes to `offsets` where the items of a node begin, and where the last one ends.
 * @returns BRANCH_ITEMS, or 2 for a leaf or an extension
 * @throws InvalidRlpError when `rlp` is neither
 */
export function readItems(rlp: Uint8Array, offsets: Int32Array): number {
  if (rlp.length === 0 || rlp[0]! < 0xc0) throw new InvalidRlpError("trie node is not a list");
  // Each node of an update comes through here, so nothing is called for its prefix.
  const prefix = rlp[0]!;
  let at = prefix < 0xf8 ? 1 : prefix - 0xf6;
  let length = prefix - 0xc0;
  if (prefix >= 0xf8) {
    length = 0;
    for (let i = 1; i < at; i++) length = length * 256 + rlp[i]!;
  }
  const end = at + length;
  let count = 0;
  for (; at < rlp.length && count < BRANCH_ITEMS; count++) {
    offsets[count] = at;
    // Nearly all items are those of branches: no child, or the hash of one.
    const first = rlp[at];
    if (first === NOTHING) at++;
    else at = first === HASH_ITEM ? at + 1 + HASH_LENGTH : itemEnd(rlp, at);
  }
  offsets[count] = at;
  if (at !== rlp.length || end !== rlp.length) {
    throw new InvalidRlpError("trie node of wrong length");
  }
  if (count !== 2 && count !== BRANCH_ITEMS) {
    throw new InvalidRlpError("trie node is neither 2 items nor 17");
  }
  return count;
}

function decodeShortNode(rlp: Uint8Array, first: number, second: number): ShortNode {
  const packed = stringContent(rlp, first, second);
  if (packed.length === 0) throw new InvalidRlpError("trie node with an empty path");
  const path = readHexPrefix(packed);
  if (!isLeafPath(packed)) return { kind: "extension", path, payload: referenceAt(rlp, second, rlp.length) };
  return { kind: "leaf", path, payload: stringContent(rlp, second, rlp.length) };
}

/** True when the branch has a child at `nibble`. */
export function hasChild(branch: BranchNode, nibble: number): boolean {
  return branch.rlp[branch.offsets[nibble]!] !== NOTHING;
}

/** True when the item that begins at `rlp[at]` is a hash. */
export function isHashItem(rlp: Uint8Array, at: number): boolean {
  return rlp[at] === HASH_ITEM;
}

/** Reference of the child at `nibble`, a view; undefined without a child. */
export function childReference(branch: BranchNode, nibble: number): Uint8Array | undefined {
  if (!hasChild(branch, nibble)) return undefined;
  return referenceAt(branch.rlp, branch.offsets[nibble]!, branch.offsets[nibble + 1]!);
}

/** Value that ends at the branch, a view; undefined without a value. */
export function branchValue(branch: BranchNode): Uint8Array | undefined {
  const value = stringContent(branch.rlp, branch.offsets[16]!, branch.offsets[17]!);
  return value.length === 0 ? undefined : value;
}

/** The hash without its prefix, or a node as it is. */
function referenceAt(rlp: Uint8Array, start: number, end: number): Uint8Array {
  return rlp.subarray(referenceStart(rlp, start), end);
}

/** Offset of the reference in the item at `at`, after the prefix of a hash; the item's end if it is empty. */
export function referenceStart(rlp: Uint8Array, at: number): number {
  return rlp[at]! < 0xc0 ? at + 1 : at;
}

/** The bytes of the string item `rlp[start..end)`, a view. */
export function stringContent(rlp: Uint8Array, start: number, end: number): Uint8Array {
  const first = rlp[start]!;
  const from = first < 0x80 ? start : first < 0xb8 ? start + 1 : start + 1 + first - 0xb7;
  return from === end ? EMPTY_BYTES : rlp.subarray(from, end);
}

function itemEnd(rlp: Uint8Array, at: number): number {
  const first = rlp[at]!;
  if (first < 0x80) return at + 1;
  if (first < 0xb8) return at + 1 + first - 0x80;
  if (first >= 0xc0 && first < 0xf8) return at + 1 + first - 0xc0;
  const start = at + 1 + first - (first < 0xc0 ? 0xb7 : 0xf7);
  let length = 0;
  for (let i = at + 1; i < start; i++) length = length * 256 + rlp[i]!;
  return start + length;
}
