import { BRANCH_ITEMS, HASH_LENGTH, readItems, referenceStart } from "../../../store/trie/node.ts";

/** Of a branch. */
export const CHILDREN = BRANCH_ITEMS - 1;
/** A version with more new children is written whole. */
const CHANGED_MAX = 14;
/**
 * One version in so many is written whole, chosen by its hash, so that no reader has to go further back than some of these: one or two rows of versions. A
 * sixteenth made a third of their bytes.
 */
const WHOLE_EVERY = 64;
/** Instead of the length of a reference: the child has its own versions, and the newest of them has this hash. */
export const CHILD_VERSION = 0xff;
/** Bytes before the children that changed, or before the node. */
const HEADER_LENGTH = 2;

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

  /**
   * @param rlp empty where the trie became empty
   * @param before RLP of the version before, where it is known
   * @param hasChildVersions the versions of the children are stored, too
   */
  encode(rlp: Uint8Array, hash: Uint8Array, before: Uint8Array | undefined, hasChildVersions: boolean): Uint8Array {
    if (before === undefined || rlp.length === 0 || hash[0]! % WHOLE_EVERY === 0) return wholeVersion(rlp);
    const offsets = this.#offsets;
    const areBranches =
      readItems(rlp, offsets) === BRANCH_ITEMS && readItems(before, this.#offsetsBefore) === BRANCH_ITEMS;
    if (!areBranches) return wholeVersion(rlp);
    let changed = 0;
    let count = 0;
    let length = HEADER_LENGTH;
    for (let n = 0; n < CHILDREN; n++) {
      if (this.#isSameChild(n, rlp, before)) continue;
      changed |= 1 << n;
      count++;
      length +=
        1 + (this.#isOmitted(n, rlp, hasChildVersions) ? 0 : offsets[n + 1]! - referenceStart(rlp, offsets[n]!));
    }
    if (changed === 0 || (count > CHANGED_MAX && !hasChildVersions)) return wholeVersion(rlp);
    const version = new Uint8Array(length);
    version[0] = changed & 255;
    version[1] = changed >> 8;
    let at = HEADER_LENGTH;
    for (let n = 0; n < CHILDREN; n++) {
      if (((changed >> n) & 1) === 0) continue;
      if (this.#isOmitted(n, rlp, hasChildVersions)) {
        version[at++] = CHILD_VERSION;
        continue;
      }
      const end = offsets[n + 1]!;
      const start = referenceStart(rlp, offsets[n]!);
      version[at++] = end - start;
      for (let i = start; i < end; i++) version[at++] = rlp[i]!;
    }
    return version;
  }

  #isOmitted(n: number, rlp: Uint8Array, hasChildVersions: boolean): boolean {
    return hasChildVersions && this.#offsets[n + 1]! - referenceStart(rlp, this.#offsets[n]!) === HASH_LENGTH;
  }

  /** Whether child `n` is the same in both branches, whose items are known. */
  #isSameChild(n: number, rlp: Uint8Array, before: Uint8Array): boolean {
    const start = this.#offsets[n]!;
    const startBefore = this.#offsetsBefore[n]!;
    const length = this.#offsets[n + 1]! - start;
    if (length !== this.#offsetsBefore[n + 1]! - startBefore) return false;
    for (let i = 0; i < length; i++) if (rlp[start + i] !== before[startBefore + i]) return false;
    return true;
  }
}
