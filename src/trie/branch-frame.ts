import { EMPTY_BYTES } from "../primitives/bytes.ts";
import { allocateShared } from "../primitives/slab.ts";
import { BRANCH_ITEMS, HASH_LENGTH } from "./node.ts";

const CHILDREN = 16;

/**
 * A branch whose children are being changed. Children that have a hash before and after, which are nearly all, are replaced in place:
 * no item of the branch moves. There is one frame for each depth of a descent, used again by every branch there.
 */
export class BranchFrame {
  /** RLP of the branch before the change, a view. */
  rlp: Uint8Array = EMPTY_BYTES;
  /** Where each of the 17 items begins in `rlp`, and where the last one ends. */
  readonly offsets = new Int32Array(BRANCH_ITEMS + 1);
  /** bit n: child n has a new hash */
  hashed = 0;
  readonly #hashes = allocateShared(CHILDREN * HASH_LENGTH);
  /** bit n: child n is a leaf with a new value, not yet encoded */
  leaves = 0;
  readonly leafKeys: Uint8Array[] = new Array(CHILDREN).fill(EMPTY_BYTES);
  readonly leafValues: Uint8Array[] = new Array(CHILDREN).fill(EMPTY_BYTES);

  /** Begins a change of the branch whose items were read to `offsets`. */
  begin(rlp: Uint8Array): void {
    this.rlp = rlp;
    this.hashed = 0;
    this.leaves = 0;
  }

  setHash(child: number, hash: Uint8Array): void {
    for (let i = 0, at = child * HASH_LENGTH; i < HASH_LENGTH; i++, at++)
      this.#hashes[at] = hash[i]!;
    this.hashed |= 1 << child;
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

  /** Writes the RLP with the new hashes to `out`; its length is that of `rlp`. */
  write(out: Uint8Array): void {
    out.set(this.rlp);
    for (let rest = this.hashed; rest !== 0; rest &= rest - 1) {
      const child = 31 - Math.clz32(rest & -rest);
      let at = this.offsets[child]! + 1;
      const start = child * HASH_LENGTH;
      for (let i = start; i < start + HASH_LENGTH; i++) out[at++] = this.#hashes[i]!;
    }
  }
}
