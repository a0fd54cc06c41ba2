import { invariant } from "../errors.ts";
import { EMPTY_BYTES, equalBytes } from "../primitives/bytes.ts";
import { keccakMessage } from "../primitives/keccak.ts";
import { allocateShared, copyShared } from "../primitives/slab.ts";
import { BranchFrame, lowestBit } from "./branch-frame.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { groupByNibble, groupEnd, sharedNibbles } from "./key-groups.ts";
import { isLeafPathOf, nibbleAt, nibblesOf, packNibbles } from "./nibbles.ts";
import {
  BRANCH_ITEMS,
  type BranchNode,
  branchValue,
  childReference,
  contentStart,
  type DecodedNode,
  decodeNode,
  HASH_LENGTH,
  hasChild,
  isHashItem,
  readItems,
  type ShortNode,
  stringContent,
} from "./node.ts";
import {
  type EncodedNode,
  encodeBranch,
  encodeLeaf,
  encodeShortNode,
  leafLength,
  leafWithHash,
  writeLeaf,
} from "./node-encoder.ts";
import type { NodeSource } from "./node-source.ts";
import { type EntrySink, UNHASHED_LENGTH_MAX, UnhashedNodes } from "./unhashed-nodes.ts";

/** Longest key. The descent takes one stack frame a nibble, so this also bounds the stack. */
const KEY_BYTES_MAX = 64;

export type TrieChanges = {
  /** All different; none longer than 64 bytes. */
  readonly keys: readonly Uint8Array[];
  /**
   * The new value of key number `index`, given the one it has: undefined or empty deletes.
   * Asked once for each key, in any order.
   */
  valueOf(index: number, old: Uint8Array | undefined): Uint8Array | undefined;
  /** The value that key number `index` has, as far as is known: if its leaf has the hash that its parent says, it is not read. */
  knownValue?(index: number): Uint8Array | undefined;
};

/** A branch with at most 12 hashes: some of its children are leaves. Of a branch with more nearly none is. */
const SPARSE_LENGTH = 3 + 12 * (HASH_LENGTH + 1) + 5;

/** Nibbles of the longest path of which every replaced node is reported. */
export const REPORTED_DEPTH = 2;

/** Receives what becomes of each place: the first `depth` nibbles of `path`, which is written to afterwards. */
export type NodeSink = {
  /** A new node, the first `length` bytes of `rlp`, which are overwritten afterwards. Returns its hash. */
  add(path: Uint8Array, depth: number, rlp: Uint8Array, length: number): Uint8Array;
  /** A new node with its hash. */
  readonly addHashed: EntrySink;
  /**
   * The node with `hash` is no longer at its place, unless it is added again later. Below REPORTED_DEPTH it may be left out
   * where another node is added at the same place.
   */
  replace(path: Uint8Array, depth: number, hash: Uint8Array): void;
};

/**
 * A subtrie that is not encoded as long as its parent may still merge with it: a leaf, or an extension.
 * An extension with an empty path stands for the branch it refers to; branches never move, so they are encoded at once.
 */
type Subtrie = ShortNode;

/** Nodes of the updates under way in this thread. */
export const unhashed = new UnhashedNodes();

/** Instead of a subtrie: a branch that was encoded at its place; it is the last of the nodes without a hash. */
const CLOSED: Subtrie = { kind: "extension", path: EMPTY_BYTES, payload: EMPTY_BYTES };

/**
 * As `updateOver`. What an update that fails leaves without a hash is forgotten.
 */
export function updateTrie(
  source: NodeSource | undefined,
  root: Uint8Array,
  changes: TrieChanges,
  sink: NodeSink,
): Uint8Array {
  const first = unhashed.count;
  try {
    return updateOver(source, root, changes, sink);
  } finally {
    unhashed.truncate(first);
  }
}

/**
 * Root of the trie `root` after `changes`: one descent that follows all keys together and encodes every new node once
 * on its way back (Yellow Paper, appendix D).
 * @param source undefined for a trie that begins empty
 * @throws MissingTrieNodeError
 */
function updateOver(
  source: NodeSource | undefined,
  root: Uint8Array,
  changes: TrieChanges,
  sink: NodeSink,
): Uint8Array {
  const keys = changes.keys.slice();
  const values: (Uint8Array | undefined)[] = new Array(keys.length);
  /** Nibbles from the root to where the descent is. */
  const path = allocateShared(KEY_BYTES_MAX * 2 + 1);
  const frames: BranchFrame[] = [];
  const firstUnhashed = unhashed.count;

  const askValue = (index: number, old: Uint8Array | undefined): Uint8Array | undefined => {
    const value = changes.valueOf(index, old);
    return value?.length === 0 ? undefined : value;
  };

  const frameAt = (depth: number): BranchFrame => {
    while (frames.length <= depth) frames.push(new BranchFrame());
    return frames[depth]!;
  };

  const sourceOfNodes = (): NodeSource => {
    invariant(source, "an empty trie has no nodes to open");
    return source;
  };

  /** The value of key number `index`, if `hash` at `depth` is that of its leaf with what is known of it. */
  const knownLeafValue = (index: number, hash: Uint8Array, depth: number) => {
    const value = changes.knownValue?.(index);
    return value && leafWithHash(keys[index]!, depth, value, hash) && value;
  };

  const open = (reference: Uint8Array, depth: number): DecodedNode =>
    decodeNode(
      reference.length < HASH_LENGTH ? reference : sourceOfNodes().get(reference, path, depth),
    );

  /** How a parent refers to the node just encoded at `depth`. */
  const referenceOf = ({ bytes, length }: EncodedNode, depth: number): Uint8Array =>
    length < HASH_LENGTH ? copyShared(bytes, 0, length) : sink.add(path, depth, bytes, length);

  /** The node at `reference`, the only child left of a branch, as a subtrie. */
  const reopen = (reference: Uint8Array, depth: number): Subtrie => {
    const node = open(reference, depth);
    // A branch stays where it is; anything else merges with what is above it.
    if (node.kind === "branch") return { kind: "extension", path: EMPTY_BYTES, payload: reference };
    if (reference.length === HASH_LENGTH) sink.replace(path, depth, reference);
    return node;
  };

  /** How a parent refers to `subtrie` at `depth`; encodes it if that is still to be done. */
  const refer = (subtrie: Subtrie, depth: number): Uint8Array => {
    if (subtrie.kind === "extension" && subtrie.path.length === 0) return subtrie.payload;
    return referenceOf(encodeShortNode(subtrie), depth);
  };

  /** A branch of `old` with the children in `changed` replaced, or what is left of it. */
  const closeBranch = (
    old: BranchNode | undefined,
    changed: number,
    children: readonly (Subtrie | undefined)[],
    value: Uint8Array | undefined,
    depth: number,
  ): Subtrie | undefined => {
    let count = 0;
    let last = 0;
    for (let n = 0; n < 16; n++) {
      const isThere =
        (changed >> n) & 1 ? children[n] !== undefined : old !== undefined && hasChild(old, n);
      if (!isThere) continue;
      count++;
      last = n;
    }
    if (count === 0) {
      return value && { kind: "leaf", path: EMPTY_BYTES, payload: value };
    }
    if (count === 1 && value === undefined) {
      path[depth] = last;
      const child = children[last] ?? reopen(childReference(old!, last)!, depth + 1);
      return prefixed(Uint8Array.of(last), child);
    }
    const references: (Uint8Array | undefined)[] = new Array(16);
    for (let n = 0; n < 16; n++) {
      const child = children[n];
      if (child === undefined) continue;
      path[depth] = n;
      references[n] = refer(child, depth + 1);
    }
    const reference = referenceOf(encodeBranch({ old, changed, references, value }), depth);
    return { kind: "extension", path: EMPTY_BYTES, payload: reference };
  };

  /** A subtrie of the keys `order[from..to)`, whose values are known and not empty. */
  const build = (
    order: Int32Array,
    from: number,
    to: number,
    depth: number,
  ): Subtrie | undefined => {
    if (from === to) return undefined;
    const first = order[from]!;
    if (to - from === 1) {
      return { kind: "leaf", path: nibblesOf(keys[first]!, depth), payload: values[first]! };
    }
    const shared = sharedNibbles(keys, order, from, to, depth);
    const branchDepth = depth + shared.length;
    path.set(shared, depth);
    groupByNibble(keys, order, from, to, branchDepth);
    const references: (Uint8Array | undefined)[] = new Array(16);
    let changed = 0;
    let value: Uint8Array | undefined;
    let start = from;
    if (keys[order[start]!]!.length * 2 === branchDepth) value = values[order[start++]!];
    invariant(keys[order[start]!]!.length * 2 > branchDepth, "keys are all different");
    while (start < to) {
      const nibble = nibbleAt(keys[order[start]!]!, branchDepth);
      const end = groupEnd(keys, order, start, to, branchDepth);
      path[branchDepth] = nibble;
      references[nibble] = buildReference(order, start, end, branchDepth + 1);
      changed |= 1 << nibble;
      start = end;
    }
    const branch = encodeBranch({ old: undefined, changed, references, value });
    const payload = referenceOf(branch, branchDepth);
    return prefixed(shared, { kind: "extension", path: EMPTY_BYTES, payload });
  };

  /** How a branch refers to the subtrie of these keys: none of them goes, so a leaf of it is encoded at once. */
  const buildReference = (order: Int32Array, from: number, to: number, depth: number) => {
    const index = order[from]!;
    if (to - from > 1) return refer(build(order, from, to, depth)!, depth);
    return referenceOf(encodeLeaf(keys[index]!, depth, values[index]!), depth);
  };

  /** The keys that get a value where nothing stands but, perhaps, `leaf`. */
  const replaceLeaf = (
    leaf: ShortNode | undefined,
    order: Int32Array,
    from: number,
    to: number,
    depth: number,
  ): Subtrie | undefined => {
    const first = keys[order[from]!]!;
    if (to - from === 1 && (leaf === undefined || endsWith(first, depth, leaf.path))) {
      const value = askValue(order[from]!, leaf?.payload);
      return value && { kind: "leaf", path: leaf?.path ?? nibblesOf(first, depth), payload: value };
    }
    // Room for the leaf itself behind the others.
    const kept = new Int32Array(to - from + 1);
    let count = 0;
    let isReplaced = false;
    for (let i = from; i < to; i++) {
      const index = order[i]!;
      const isSame = leaf !== undefined && endsWith(keys[index]!, depth, leaf.path);
      isReplaced ||= isSame;
      const value = askValue(index, isSame ? leaf.payload : undefined);
      if (value === undefined) continue;
      values[index] = value;
      kept[count++] = index;
    }
    if (leaf !== undefined && !isReplaced) {
      if (count === 0) return leaf;
      const key = new Uint8Array(depth + leaf.path.length);
      key.set(path.subarray(0, depth));
      key.set(leaf.path, depth);
      kept[count++] = keys.push(packNibbles(key)) - 1;
      values.push(leaf.payload);
    }
    return build(kept, 0, count, depth);
  };

  const changeExtension = (
    extension: ShortNode,
    order: Int32Array,
    from: number,
    to: number,
    depth: number,
  ): Subtrie | undefined => {
    let shared = extension.path.length;
    for (let i = from; i < to; i++) {
      const key = keys[order[i]!]!;
      let length = 0;
      while (
        length < shared &&
        depth + length < key.length * 2 &&
        nibbleAt(key, depth + length) === extension.path[length]
      ) {
        length++;
      }
      shared = length;
    }
    const common = extension.path.subarray(0, shared);
    path.set(common, depth);
    const below = depth + shared;
    if (shared === extension.path.length) {
      const changed = changeAt(extension.payload, order, from, to, below);
      return changed && prefixed(common, changed);
    }
    const rest: Subtrie = {
      kind: "extension",
      path: extension.path.subarray(shared + 1),
      payload: extension.payload,
    };
    const children: (Subtrie | undefined)[] = new Array(16);
    children[extension.path[shared]!] = rest;
    const branch = changeChildren(undefined, children, order, from, to, below);
    return branch && prefixed(common, branch);
  };

  /** Follows the keys into the children of a branch: `old`, or one that so far consists of `children`. */
  const changeChildren = (
    old: BranchNode | undefined,
    children: (Subtrie | undefined)[],
    order: Int32Array,
    from: number,
    to: number,
    depth: number,
  ): Subtrie | undefined => {
    groupByNibble(keys, order, from, to, depth);
    let changed = 0;
    for (let n = 0; n < 16; n++) if (children[n] !== undefined) changed |= 1 << n;
    let value = old && branchValue(old);
    let start = from;
    if (keys[order[start]!]!.length * 2 === depth) {
      value = askValue(order[start++]!, value);
    }
    while (start < to) {
      const nibble = nibbleAt(keys[order[start]!]!, depth);
      const end = groupEnd(keys, order, start, to, depth);
      path[depth] = nibble;
      const reference = old && childReference(old, nibble);
      children[nibble] = reference
        ? changeAt(reference, order, start, end, depth + 1)
        : change(children[nibble], order, start, end, depth + 1);
      changed |= 1 << nibble;
      start = end;
    }
    return closeBranch(old, changed, children, value, depth);
  };

  const change = (
    node: DecodedNode | undefined,
    order: Int32Array,
    from: number,
    to: number,
    depth: number,
  ): Subtrie | undefined => {
    if (node?.kind === "branch") {
      return changeChildren(node, new Array(16), order, from, to, depth);
    }
    if (node?.kind === "extension") return changeExtension(node, order, from, to, depth);
    return replaceLeaf(node, order, from, to, depth);
  };

  /** As `change`, of the node at `reference`, which will be encoded anew or be gone. */
  const changeAt = (
    reference: Uint8Array,
    order: Int32Array,
    from: number,
    to: number,
    depth: number,
  ): Subtrie | undefined => {
    if (reference.length < HASH_LENGTH)
      return change(decodeNode(reference), order, from, to, depth);
    sink.replace(path, depth, reference);
    const nodes = sourceOfNodes();
    const rlp = nodes.take(reference, 0) ?? nodes.read(reference, path, depth);
    const { offsets } = frameAt(depth);
    if (readItems(rlp, offsets) !== BRANCH_ITEMS) {
      return change(decodeNode(rlp), order, from, to, depth);
    }
    const result = changeBranch(rlp, order, from, to, depth);
    if (result !== CLOSED) return result;
    const closed = unhashed.count - 1;
    unhashed.hash(frameAt(depth).firstUnhashed, sink.addHashed);
    const start = unhashed.hashStart(closed);
    const payload = copyShared(unhashed.bytes, start, start + HASH_LENGTH);
    return { kind: "extension", path: EMPTY_BYTES, payload };
  };

  /**
   * Follows the keys into the children of the branch `rlp`, whose items were read to the frame of `depth`. Where all children that change
   * have a hash before and after, they are replaced in place.
   */
  const changeBranch = (
    rlp: Uint8Array,
    order: Int32Array,
    from: number,
    to: number,
    depth: number,
  ): Subtrie | undefined => {
    const frame = frameAt(depth);
    frame.begin(rlp, unhashed.count);
    groupByNibble(keys, order, from, to, depth);
    if (keys[order[from]!]!.length * 2 === depth || rlp.length > UNHASHED_LENGTH_MAX) {
      return changeChildren(branchOf(frame), new Array(16), order, from, to, depth);
    }
    const moved: (Subtrie | undefined)[] = [];
    let movedBits = 0;
    for (let start = from, end = from; start < to; start = end) {
      const nibble = nibbleAt(keys[order[start]!]!, depth);
      end = groupEnd(keys, order, start, to, depth);
      path[depth] = nibble;
      const result = changeChild(frame, nibble, order, start, end, depth);
      if (result === CLOSED) continue;
      moved[nibble] = result;
      movedBits |= 1 << nibble;
    }
    if (keepsPlaces(frame, moved, movedBits, depth) && closeLeaves(frame, depth)) {
      frame.write(unhashed, path, depth);
      return CLOSED;
    }
    return closeMoved(frame, moved, movedBits, depth);
  };

  /** Changes one child of the branch in `frame`. CLOSED where the frame has the outcome: a hash, or a leaf with a new value. */
  const changeChild = (
    frame: BranchFrame,
    nibble: number,
    order: Int32Array,
    from: number,
    to: number,
    depth: number,
  ): Subtrie | undefined => {
    const { rlp, offsets } = frame;
    const below = depth + 1;
    if (!isHashItem(rlp, offsets[nibble]!)) {
      const reference = childReference(branchOf(frame), nibble);
      return change(reference && decodeNode(reference), order, from, to, below);
    }
    const isReported = below <= REPORTED_DEPTH;
    if (isReported) sink.replace(path, below, frame.oldHash(nibble));
    const nodes = sourceOfNodes();
    let child = nodes.take(rlp, offsets[nibble]! + 1);
    if (child === undefined && to - from === 1 && rlp.length <= SPARSE_LENGTH) {
      const index = order[from]!;
      const known = knownLeafValue(index, frame.oldHash(nibble), below);
      if (known !== undefined) {
        const value = askValue(index, known);
        if (value === undefined) {
          if (!isReported) sink.replace(path, below, frame.oldHash(nibble));
          return undefined;
        }
        frame.setLeaf(nibble, keys[index]!, value);
        return CLOSED;
      }
    }
    child ??= nodes.read(frame.oldHash(nibble), path, below);
    const items = frameAt(below).offsets;
    let result: Subtrie | undefined;
    if (readItems(child, items) === BRANCH_ITEMS) {
      result = changeBranch(child, order, from, to, below);
      if (result === CLOSED) {
        frame.setUnhashed(nibble, unhashed.count - 1);
        if (unhashed.isFull) hashAll(below);
        return CLOSED;
      }
    } else if (to - from === 1 && isLeafOf(keys[order[from]!]!, below, child, items)) {
      const index = order[from]!;
      const value = askValue(index, stringContent(child, items[1]!, items[2]!));
      if (value !== undefined) {
        frame.setLeaf(nibble, keys[index]!, value);
        return CLOSED;
      }
    } else {
      result = change(decodeNode(child), order, from, to, below);
    }
    if (!isReported && !isClosedBranch(result)) sink.replace(path, below, frame.oldHash(nibble));
    return result;
  };

  /** Hashes all nodes of this update; the frames above `depth` take the hashes of their children. */
  const hashAll = (depth: number): void => {
    unhashed.hash(firstUnhashed, sink.addHashed);
    for (let above = 0; above < depth; above++) {
      const frame = frameAt(above);
      frame.takeHashes(unhashed, firstUnhashed);
      frame.firstUnhashed = firstUnhashed;
    }
  };

  /**
   * True where all children in `bits`, which have become those in `moved`, have a hash before and after. Encodes them, as far as it
   * is true: a branch that loses no child stays one.
   */
  const keepsPlaces = (
    frame: BranchFrame,
    moved: (Subtrie | undefined)[],
    bits: number,
    depth: number,
  ): boolean => {
    for (let rest = bits; rest !== 0; rest &= rest - 1) {
      const nibble = lowestBit(rest);
      if (moved[nibble] === undefined) return false;
      if (!isHashItem(frame.rlp, frame.offsets[nibble]!)) return false;
    }
    for (let rest = bits; rest !== 0; rest &= rest - 1) {
      const nibble = lowestBit(rest);
      path[depth] = nibble;
      const payload = refer(moved[nibble]!, depth + 1);
      moved[nibble] = { kind: "extension", path: EMPTY_BYTES, payload };
      if (payload.length < HASH_LENGTH) return false;
      frame.setHash(nibble, payload);
    }
    return true;
  };

  /** Encodes the leaves with new values; false where one is too short to have a hash, or very long. */
  const closeLeaves = (frame: BranchFrame, depth: number): boolean => {
    for (let rest = frame.leaves; rest !== 0; rest &= rest - 1) {
      const nibble = lowestBit(rest);
      const key = frame.leafKeys[nibble]!;
      const value = frame.leafValues[nibble]!;
      const length = leafLength(key, depth + 1, value);
      if (length < HASH_LENGTH || length > UNHASHED_LENGTH_MAX) return false;
      path[depth] = nibble;
      frame.setUnhashed(nibble, unhashed.count);
      const start = unhashed.add(path, depth + 1, length, true);
      writeLeaf(key, depth + 1, value, unhashed.bytes, start);
      frame.leaves &= ~(1 << nibble);
    }
    return true;
  };

  /** Closes the branch in `frame`, of which the children in `bits` have become those in `moved`. */
  const closeMoved = (
    frame: BranchFrame,
    moved: (Subtrie | undefined)[],
    bits: number,
    depth: number,
  ): Subtrie | undefined => {
    unhashed.hash(frame.firstUnhashed, sink.addHashed);
    frame.takeHashes(unhashed, frame.firstUnhashed);
    for (let rest = frame.leaves; rest !== 0; rest &= rest - 1) {
      const nibble = lowestBit(rest);
      path[depth] = nibble;
      sink.replace(path, depth + 1, frame.oldHash(nibble));
      const ending = nibblesOf(frame.leafKeys[nibble]!, depth + 1);
      moved[nibble] = { kind: "leaf", path: ending, payload: frame.leafValues[nibble]! };
    }
    for (let rest = frame.hashed; rest !== 0; rest &= rest - 1) {
      const nibble = lowestBit(rest);
      moved[nibble] = { kind: "extension", path: EMPTY_BYTES, payload: frame.newHash(nibble) };
    }
    const old = branchOf(frame);
    return closeBranch(old, bits | frame.leaves | frame.hashed, moved, branchValue(old), depth);
  };

  for (const key of keys) invariant(key.length <= KEY_BYTES_MAX, "keys have at most 64 bytes");
  if (keys.length === 0) return root;
  const order = new Int32Array(keys.length);
  for (let index = 0; index < order.length; index++) order[index] = index;
  const isEmpty = equalBytes(root, EMPTY_TRIE_ROOT_BYTES);
  const subtrie = isEmpty
    ? change(undefined, order, 0, order.length, 0)
    : changeAt(root, order, 0, order.length, 0);
  if (subtrie === undefined) return EMPTY_TRIE_ROOT_BYTES;
  const reference = refer(subtrie, 0);
  if (reference.length === HASH_LENGTH) return reference;
  // A root has its hash however short it is.
  keccakMessage.set(reference);
  return sink.add(path, 0, keccakMessage, reference.length);
}

/** True for a branch that was added at its place. */
function isClosedBranch(subtrie: Subtrie | undefined): boolean {
  if (subtrie?.kind !== "extension" || subtrie.path.length > 0) return false;
  return subtrie.payload.length === HASH_LENGTH;
}

/** The branch in `frame` before the change, as an object of its own. */
function branchOf({ rlp, offsets }: BranchFrame): BranchNode {
  return { kind: "branch", rlp, offsets: offsets.slice() };
}

/** True when the short node `rlp` with these items is the leaf of `key`, of which `depth` nibbles are above it. */
function isLeafOf(key: Uint8Array, depth: number, rlp: Uint8Array, items: Int32Array): boolean {
  const [start, end] = [items[0]!, items[1]!];
  return isLeafPathOf(key, depth, rlp, contentStart(rlp, start), end);
}

function prefixed(nibbles: Uint8Array, subtrie: Subtrie): Subtrie {
  if (nibbles.length === 0) return subtrie;
  const path = new Uint8Array(nibbles.length + subtrie.path.length);
  path.set(nibbles);
  path.set(subtrie.path, nibbles.length);
  return { kind: subtrie.kind, path, payload: subtrie.payload };
}

/** True when the nibbles of `key` from `start` on are `nibbles`. */
function endsWith(key: Uint8Array, start: number, nibbles: Uint8Array): boolean {
  if (key.length * 2 - start !== nibbles.length) return false;
  for (let i = 0; i < nibbles.length; i++) {
    if (nibbleAt(key, start + i) !== nibbles[i]) return false;
  }
  return true;
}
