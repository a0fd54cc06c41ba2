import { BRANCH_ITEMS, readItems } from "../../../trie/node.ts";

const CHILDREN = BRANCH_ITEMS - 1;
/** A version with more new children is written whole. */
const CHANGED_MAX = 8;
/** One version in so many is written whole, chosen by its hash, so that no reader has to go further back than some of these. */
const WHOLE_EVERY = 16;
/** Bytes before the children that changed, or before the node. */
const HEADER_LENGTH = 2;
const LIST = 0xc0;

/** A version of a node as the node itself. @param rlp empty where the trie became empty */
export function wholeVersion(rlp: Uint8Array): Uint8Array {
  const version = new Uint8Array(HEADER_LENGTH + rlp.length);
  version.set(rlp, HEADER_LENGTH);
  return version;
}

/** Encodes versions of nodes as what differs from the versions before (`NodeHistory`). */
export class NodeVersions {
  /** Where the items of the two branches are that are compared. */
  readonly #offsets = new Int32Array(BRANCH_ITEMS + 1);
  readonly #offsetsBefore = new Int32Array(BRANCH_ITEMS + 1);

  /** @param rlp empty where the trie became empty @param before RLP of the version before, where it is known */
  encode(rlp: Uint8Array, hash: Uint8Array, before: Uint8Array | undefined): Uint8Array {
    if (before === undefined || rlp.length === 0 || hash[0]! % WHOLE_EVERY === 0) return wholeVersion(rlp);
    const offsets = this.#offsets;
    const offsetsBefore = this.#offsetsBefore;
    const areBranches = readItems(rlp, offsets) === BRANCH_ITEMS && readItems(before, offsetsBefore) === BRANCH_ITEMS;
    if (!areBranches) return wholeVersion(rlp);
    let changed = 0;
    let count = 0;
    let length = HEADER_LENGTH;
    for (let n = 0; n < CHILDREN; n++) {
      const start = offsets[n]!;
      const end = offsets[n + 1]!;
      if (isSameItem(rlp, start, end, before, offsetsBefore[n]!, offsetsBefore[n + 1]!)) continue;
      changed |= 1 << n;
      count++;
      length += 1 + end - referenceStart(rlp, start);
    }
    if (changed === 0 || count > CHANGED_MAX) return wholeVersion(rlp);
    const version = new Uint8Array(length);
    version[0] = changed & 255;
    version[1] = changed >> 8;
    let at = HEADER_LENGTH;
    for (let n = 0; n < CHILDREN; n++) {
      if (((changed >> n) & 1) === 0) continue;
      const end = offsets[n + 1]!;
      const start = referenceStart(rlp, offsets[n]!);
      version[at++] = end - start;
      for (let i = start; i < end; i++) version[at++] = rlp[i]!;
    }
    return version;
  }
}

/** A hash is stored without its prefix, nothing as no bytes, and a node as it is. */
function referenceStart(rlp: Uint8Array, start: number): number {
  return rlp[start]! < LIST ? start + 1 : start;
}

function isSameItem(a: Uint8Array, start: number, end: number, b: Uint8Array, startB: number, endB: number): boolean {
  if (end - start !== endB - startB) return false;
  for (let i = start, j = startB; i < end; i++, j++) if (a[i] !== b[j]) return false;
  return true;
}
