import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { rlpListLength } from "../../base/primitives/rlp.ts";
import { copyShared } from "../../base/primitives/slab.ts";
import { BranchFrame, lowestBit } from "./branch-frame.ts";
import { groupByNibble, groupEnd, isLeafPathOf, nibbleAt, nibblesOf } from "./nibbles.ts";
import { branchValue, childReference, decodeNode, HASH_LENGTH, isHashItem, stringContent } from "./node.ts";
import { leafPayloadLength, leafWithHash, writeLeaf } from "./node-encoder.ts";
import { branchSubtrie, REPORTED_DEPTH, type Subtrie } from "./subtrie.ts";
import { TrieUpdate, type TrieUpdateModules } from "./trie-update.ts";
import { UNHASHED_LENGTH_MAX, type UnhashedNodes, withUnhashedNodes } from "./unhashed-nodes.ts";

/** A branch with at most 12 hashes: some of its children are leaves. Of a branch with more nearly none is. */
const SPARSE_LENGTH = 3 + 12 * (HASH_LENGTH + 1) + 5;

/** Instead of a subtrie: a branch that was rewritten in place; it is the last of the nodes without a hash. */
const IN_PLACE: Subtrie = { kind: "extension", path: EMPTY_BYTES, payload: EMPTY_BYTES };

/**
 * Root of the trie `root` after `modules.changes`, whose new nodes go to `modules.sink`.
 * @throws MissingTrieNodeError
 */
export function updateTrie(root: Uint8Array, modules: TrieUpdateModules): Uint8Array {
  const frames = spareFrames.pop() ?? [];
  try {
    return withUnhashedNodes((nodes) => new InPlaceUpdate(modules, nodes, frames).apply(root));
  } finally {
    for (const frame of frames) frame.release();
    spareFrames.push(frames);
  }
}

/** Frames by depth, a list for each update that ran inside another of this thread: at most two, of as many frames as the tries are deep. */
const spareFrames: BranchFrame[][] = [];

/**
 * A `TrieUpdate` that rewrites a branch in place, in a copy of its RLP, where all children that change have a hash before and after.
 * Nearly all branches are such. Their hashes are computed later, many together.
 */
class InPlaceUpdate extends TrieUpdate {
  readonly #unhashed: UnhashedNodes;
  readonly #firstUnhashed: number;
  /** By depth. */
  readonly #frames: BranchFrame[];

  constructor(modules: TrieUpdateModules, unhashed: UnhashedNodes, frames: BranchFrame[]) {
    super(modules);
    this.#frames = frames;
    this.#unhashed = unhashed;
    this.#firstUnhashed = unhashed.count;
  }

  #frameAt(depth: number): BranchFrame {
    while (this.#frames.length <= depth) this.#frames.push(new BranchFrame());
    return this.#frames[depth]!;
  }

  protected override changeStored(rlp: Uint8Array, from: number, to: number, depth: number): Subtrie | undefined {
    const frame = this.#frameAt(depth);
    if (!frame.open(rlp)) return this.change(decodeNode(rlp), from, to, depth);
    const result = this.#changeOpened(from, to, depth);
    if (result !== IN_PLACE) return result;
    const unhashed = this.#unhashed;
    const branch = unhashed.count - 1;
    unhashed.hash(frame.firstUnhashed, this.sink.addHashed);
    const start = unhashed.hashStart(branch);
    return branchSubtrie(copyShared(unhashed.bytes, start, start + HASH_LENGTH));
  }

  /** Follows the keys into the children of the branch that was opened in the frame of `depth`. */
  #changeOpened(from: number, to: number, depth: number): Subtrie | undefined {
    const { keys, order } = this;
    const frame = this.#frameAt(depth);
    frame.begin(this.#unhashed.count);
    groupByNibble(keys, order, from, to, depth);
    if (keys[order[from]!]!.length * 2 === depth || frame.rlp.length > UNHASHED_LENGTH_MAX) {
      return this.changeBranch(frame.oldBranch(), new Array(16), from, to, depth);
    }
    for (let start = from, end = from; start < to; start = end) {
      const nibble = nibbleAt(keys[order[start]!]!, depth);
      end = groupEnd(keys, order, start, to, depth);
      this.path[depth] = nibble;
      const result = this.#changeChild(frame, start, end, depth + 1);
      if (result !== IN_PLACE) frame.setSubtrie(nibble, result);
    }
    if (this.#hashSubtries(frame, depth) && this.#addLeaves(frame, depth)) {
      frame.write(this.#unhashed, this.path, depth);
      return IN_PLACE;
    }
    return this.#closeFrame(frame, depth);
  }

  /**
   * Changes the child at `depth`, where the path leads, of the branch in `frame`.
   * @returns IN_PLACE where the frame has the outcome: a node without a hash yet, or a leaf with a new value
   */
  #changeChild(frame: BranchFrame, from: number, to: number, depth: number): Subtrie | undefined {
    const nibble = this.path[depth - 1]!;
    if (!isHashItem(frame.rlp, frame.offsets[nibble]!)) {
      const reference = childReference(frame.oldBranch(), nibble);
      return this.change(reference && decodeNode(reference), from, to, depth);
    }
    const isReported = depth <= REPORTED_DEPTH;
    if (isReported) this.sink.replace(this.path, depth, frame.oldHash(nibble));
    const result = this.#changeHashed(frame, from, to, depth);
    if (!isReported && !isAddedBranch(result)) {
      this.sink.replace(this.path, depth, frame.oldHash(nibble));
    }
    return result;
  }

  /** As `#changeChild`, of one that has a hash. */
  #changeHashed(frame: BranchFrame, from: number, to: number, depth: number): Subtrie | undefined {
    const nibble = this.path[depth - 1]!;
    const first = this.order[from]!;
    const isSingle = to - from === 1;
    const { nodes } = this;
    let child = nodes.take(frame.rlp, frame.offsets[nibble]! + 1);
    if (child === undefined) {
      const hash = frame.oldHash(nibble);
      if (isSingle && frame.rlp.length <= SPARSE_LENGTH) {
        const known = this.#knownLeafValue(first, hash, depth);
        if (known !== undefined) return this.#changeLeafOf(frame, nibble, first, known);
      }
      child = nodes.read(hash, this.path, depth);
    }
    const below = this.#frameAt(depth);
    if (below.open(child)) {
      const result = this.#changeOpened(from, to, depth);
      if (result === IN_PLACE) {
        frame.setUnhashed(nibble, this.#unhashed.count - 1);
        if (this.#unhashed.isFull) this.#hashAll(depth);
      }
      return result;
    }
    if (isSingle && isLeafPathOf(this.keys[first]!, depth, child, below.offsets[0]!, below.offsets[1]!)) {
      const old = stringContent(child, below.offsets[1]!, below.offsets[2]!);
      return this.#changeLeafOf(frame, nibble, first, old);
    }
    return this.change(decodeNode(child), from, to, depth);
  }

  /** The value of key number `index`, if `hash` is that of its leaf at `depth` with what is known of it. */
  #knownLeafValue(index: number, hash: Uint8Array, depth: number): Uint8Array | undefined {
    const value = this.changes.knownValue?.(index);
    return value && leafWithHash(this.keys[index]!, depth, value, hash) && value;
  }

  /** The child at `nibble` is the leaf of key number `index`. */
  #changeLeafOf(frame: BranchFrame, nibble: number, index: number, old: Uint8Array) {
    const value = this.newValue(index, old);
    if (value === undefined) return undefined;
    frame.setLeaf(nibble, this.keys[index]!, value);
    return IN_PLACE;
  }

  /** Hashes all nodes of this update; the frames above `depth` take the hashes of their children. */
  #hashAll(depth: number): void {
    const first = this.#firstUnhashed;
    this.#unhashed.hash(first, this.sink.addHashed);
    for (let above = 0; above < depth; above++) {
      const frame = this.#frameAt(above);
      frame.takeHashes(this.#unhashed, first);
      frame.firstUnhashed = first;
    }
  }

  /**
   * True where all subtries that children became have a hash, as the children had. Encodes them, as far as it is true: a branch that
   * loses no child stays one.
   */
  #hashSubtries(frame: BranchFrame, depth: number): boolean {
    const { subtries } = frame;
    for (let rest = frame.subtrieBits; rest !== 0; rest &= rest - 1) {
      const nibble = lowestBit(rest);
      if (subtries[nibble] === undefined) return false;
      if (!isHashItem(frame.rlp, frame.offsets[nibble]!)) return false;
    }
    for (let rest = frame.subtrieBits; rest !== 0; rest &= rest - 1) {
      const nibble = lowestBit(rest);
      this.path[depth] = nibble;
      const reference = this.writer.subtrie(subtries[nibble]!, depth + 1);
      subtries[nibble] = branchSubtrie(reference);
      if (reference.length < HASH_LENGTH) return false;
      frame.setHash(nibble, reference);
    }
    return true;
  }

  /** Adds the leaves with new values to the nodes to be hashed; false where one is too short to have a hash, or very long. */
  #addLeaves(frame: BranchFrame, depth: number): boolean {
    const unhashed = this.#unhashed;
    for (let rest = frame.leaves; rest !== 0; rest &= rest - 1) {
      const nibble = lowestBit(rest);
      const key = frame.leafKeys[nibble]!;
      const value = frame.leafValues[nibble]!;
      const payload = leafPayloadLength(key, depth + 1, value);
      const length = rlpListLength(payload);
      if (length < HASH_LENGTH || length > UNHASHED_LENGTH_MAX) return false;
      this.path[depth] = nibble;
      frame.setUnhashed(nibble, unhashed.count);
      const start = unhashed.add(this.path, depth + 1, length, true);
      writeLeaf(key, depth + 1, value, payload, unhashed.bytes, start);
      frame.leaves &= ~(1 << nibble);
    }
    return true;
  }

  /** Closes the branch in `frame` as any branch: it cannot be rewritten in place. */
  #closeFrame(frame: BranchFrame, depth: number): Subtrie | undefined {
    this.#unhashed.hash(frame.firstUnhashed, this.sink.addHashed);
    frame.takeHashes(this.#unhashed, frame.firstUnhashed);
    const children = frame.subtries;
    for (let rest = frame.leaves; rest !== 0; rest &= rest - 1) {
      const nibble = lowestBit(rest);
      this.path[depth] = nibble;
      this.sink.replace(this.path, depth + 1, frame.oldHash(nibble));
      const path = nibblesOf(frame.leafKeys[nibble]!, depth + 1);
      children[nibble] = { kind: "leaf", path, payload: frame.leafValues[nibble]! };
    }
    for (let rest = frame.hashed; rest !== 0; rest &= rest - 1) {
      const nibble = lowestBit(rest);
      children[nibble] = branchSubtrie(frame.newHash(nibble));
    }
    const old = frame.oldBranch();
    const changed = frame.subtrieBits | frame.leaves | frame.hashed;
    return this.closeBranch({ old, changed, children, value: branchValue(old) }, depth);
  }
}

/** True for a branch that was added at its place, or will be. */
function isAddedBranch(subtrie: Subtrie | undefined): boolean {
  if (subtrie === IN_PLACE) return true;
  if (subtrie?.kind !== "extension" || subtrie.path.length > 0) return false;
  return subtrie.payload.length === HASH_LENGTH;
}
