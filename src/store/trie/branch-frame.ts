import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { allocateShared } from "../../base/primitives/slab.ts";
import { BRANCH_ITEMS, type BranchNode, HASH_LENGTH, readItems } from "./node.ts";
import type { Subtrie } from "./subtrie.ts";
import type { UnhashedNodes } from "./unhashed-nodes.ts";

const CHILDREN = 16;

/**
 * A branch whose children are being changed. Children that have a hash before and after, which are nearly all, are replaced in place:
 * no item of the branch moves. There is one frame for each depth of a descent, used again by every branch there, and by the next update.
 */
export class BranchFrame {
  /** RLP of the node before the change, a view. */
  rlp: Uint8Array = EMPTY_BYTES;
  /** Where each of the 17 items begins in `rlp`, and where the last one ends. */
  readonly offsets = new Int32Array(BRANCH_ITEMS + 1);
  /** bit n: child n has a new hash */
  hashed = 0;
  readonly #hashes = allocateShared(CHILDREN * HASH_LENGTH);
  /** Number of nodes without a hash before those of this branch. */
  firstUnhashed = 0;
  /** bit n: child n is number `unhashedChildren[n]` of the nodes without a hash */
  unhashed = 0;
  readonly unhashedChildren = new Int32Array(CHILDREN);
  /** bit n: child n is a leaf with a new value, not yet encoded */
  leaves = 0;
  readonly leafKeys: Uint8Array[] = new Array(CHILDREN).fill(EMPTY_BYTES);
  readonly leafValues: Uint8Array[] = new Array(CHILDREN).fill(EMPTY_BYTES);
  /** bit n: child n became `subtries[n]`, perhaps without a hash; undefined where it was deleted */
  subtrieBits = 0;
  subtries: (Subtrie | undefined)[] = [];

  /**
   * Reads where the items of `rlp` begin to `offsets`; true for a branch.
   * @throws InvalidRlpError
   */
  open(rlp: Uint8Array): boolean {
    this.rlp = rlp;
    return readItems(rlp, this.offsets) === BRANCH_ITEMS;
  }

  /** Begins a change of the branch that was opened. */
  begin(firstUnhashed: number): void {
    this.firstUnhashed = firstUnhashed;
    this.hashed = 0;
    this.unhashed = 0;
    this.leaves = 0;
    this.subtrieBits = 0;
    this.subtries = [];
  }

  /** Forgets the bytes of nodes and leaves that it refers to, and which children wait for a hash, for the next update. */
  release(): void {
    this.rlp = EMPTY_BYTES;
    this.unhashed = 0;
    this.leafKeys.fill(EMPTY_BYTES);
    this.leafValues.fill(EMPTY_BYTES);
    this.subtries = [];
  }

  /** The branch before the change, as a separate object. */
  oldBranch(): BranchNode {
    return { kind: "branch", rlp: this.rlp, offsets: this.offsets.slice() };
  }

  setSubtrie(child: number, subtrie: Subtrie | undefined): void {
    this.subtries[child] = subtrie;
    this.subtrieBits |= 1 << child;
  }

  /** @param offset of the hash in `bytes` */
  setHash(child: number, bytes: Uint8Array, offset = 0): void {
    const start = child * HASH_LENGTH;
    for (let i = 0; i < HASH_LENGTH; i++) this.#hashes[start + i] = bytes[offset + i]!;
    this.hashed |= 1 << child;
  }

  setUnhashed(child: number, node: number): void {
    this.unhashedChildren[child] = node;
    this.unhashed |= 1 << child;
  }

  /** The hashes of nodes from number `first` on were computed. */
  takeHashes(nodes: UnhashedNodes, first: number): void {
    for (let rest = this.unhashed; rest !== 0; rest &= rest - 1) {
      const child = lowestBit(rest);
      const node = this.unhashedChildren[child]!;
      if (node < first) continue;
      this.setHash(child, nodes.bytes, nodes.hashStart(node));
      this.unhashed &= ~(1 << child);
    }
  }

  /** The hash that `child` had, a view. */
  oldHash(child: number): Uint8Array {
    const start = this.offsets[child]! + 1;
    return this.rlp.subarray(start, start + HASH_LENGTH);
  }

  /** The new hash of `child`, a copy. */
  newHash(child: number): Uint8Array {
    return this.#hashes.slice(child * HASH_LENGTH, (child + 1) * HASH_LENGTH);
  }

  setLeaf(child: number, key: Uint8Array, value: Uint8Array): void {
    this.leafKeys[child] = key;
    this.leafValues[child] = value;
    this.leaves |= 1 << child;
  }

  /** Adds the RLP with the new hashes to `nodes`. */
  write(nodes: UnhashedNodes, path: Uint8Array, depth: number): void {
    const start = nodes.add(path, depth, this.rlp.length);
    nodes.bytes.set(this.rlp, start);
    for (let rest = this.hashed; rest !== 0; rest &= rest - 1) {
      const child = lowestBit(rest);
      const to = start + this.offsets[child]! + 1;
      const from = child * HASH_LENGTH;
      for (let i = 0; i < HASH_LENGTH; i++) nodes.bytes[to + i] = this.#hashes[from + i]!;
    }
    for (let rest = this.unhashed; rest !== 0; rest &= rest - 1) {
      const child = lowestBit(rest);
      nodes.refer(this.unhashedChildren[child]!, start + this.offsets[child]! + 1);
    }
    this.unhashed = 0;
  }
}

/** Number of the lowest bit that is set. */
export function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
