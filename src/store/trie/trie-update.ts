import { invariant } from "../../base/errors.ts";
import { EMPTY_BYTES, equalBytes } from "../../base/primitives/bytes.ts";
import { allocateShared } from "../../base/primitives/slab.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { ascendingNumbers, groupByNibble, groupEnd, nibbleAt, nibblesOf, packNibbles } from "./nibbles.ts";
import {
  type BranchNode,
  branchValue,
  childReference,
  type DecodedNode,
  decodeNode,
  HASH_LENGTH,
  hasChild,
  type ShortNode,
} from "./node.ts";
import { encodeBranch } from "./node-encoder.ts";
import type { NodeSource } from "./node-store.ts";
import { branchSubtrie, type NodeSink, NodeWriter, prefixed, type Subtrie, SubtrieBuilder } from "./subtrie.ts";

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

const noNode = () => invariant(false, "an empty trie has no nodes to open") as never;
const NO_NODES: NodeSource = { get: noNode, take: noNode, read: noNode };

export type TrieUpdateModules = {
  /** undefined for a trie that begins empty */
  readonly source: NodeSource | undefined;
  readonly changes: TrieChanges;
  readonly sink: NodeSink;
};

/**
 * An update of a Merkle Patricia trie (Yellow Paper, appendix D): one descent that follows all keys together and encodes every new
 * node once on its way back. Steps take the keys `order[from..to)`, which share the `depth` nibbles of `path`, and return the subtrie
 * there after the changes; undefined where nothing is left.
 *
 * This class is the whole algorithm. `InPlaceUpdate` replaces what most updates consist of: branches that stay where they are.
 */
export class TrieUpdate {
  protected readonly nodes: NodeSource;
  protected readonly changes: TrieChanges;
  protected readonly keys: readonly Uint8Array[];
  protected readonly sink: NodeSink;
  protected readonly writer: NodeWriter;
  /** Numbers of keys: each branch sorts its part by its nibble. */
  protected readonly order: Int32Array;
  /** Nibbles from the root to where the descent is. */
  protected readonly path: Uint8Array = allocateShared(KEY_BYTES_MAX * 2 + 1);

  constructor({ source, changes, sink }: TrieUpdateModules) {
    const { keys } = changes;
    for (const key of keys) invariant(key.length <= KEY_BYTES_MAX, "keys have at most 64 bytes");
    this.nodes = source ?? NO_NODES;
    this.changes = changes;
    this.keys = keys;
    this.sink = sink;
    this.writer = new NodeWriter(this.path, sink);
    this.order = ascendingNumbers(keys.length);
  }

  /**
   * Root of the trie `root` after the changes. Called once.
   * @throws MissingTrieNodeError
   */
  apply(root: Uint8Array): Uint8Array {
    const count = this.keys.length;
    if (count === 0) return root;
    const subtrie = equalBytes(root, EMPTY_TRIE_ROOT_BYTES)
      ? this.change(undefined, 0, count, 0)
      : this.changeAt(root, 0, count, 0);
    if (subtrie === undefined) return EMPTY_TRIE_ROOT_BYTES;
    return this.writer.root(this.writer.subtrie(subtrie, 0));
  }

  /** @returns undefined to delete */
  protected newValue(index: number, old: Uint8Array | undefined): Uint8Array | undefined {
    const value = this.changes.valueOf(index, old);
    return value?.length === 0 ? undefined : value;
  }

  /** Changes the node at `reference`, which is encoded anew or deleted. */
  protected changeAt(reference: Uint8Array, from: number, to: number, depth: number) {
    if (reference.length < HASH_LENGTH) return this.change(decodeNode(reference), from, to, depth);
    this.sink.replace(this.path, depth, reference);
    const { nodes } = this;
    const rlp = nodes.take(reference, 0) ?? nodes.read(reference, this.path, depth);
    return this.changeStored(rlp, from, to, depth);
  }

  /** Changes a node that was stored under its hash. */
  protected changeStored(rlp: Uint8Array, from: number, to: number, depth: number): Subtrie | undefined {
    return this.change(decodeNode(rlp), from, to, depth);
  }

  protected change(node: DecodedNode | undefined, from: number, to: number, depth: number): Subtrie | undefined {
    if (node?.kind === "branch") return this.changeBranch(node, new Array(16), from, to, depth);
    if (node?.kind === "extension") return this.#changeExtension(node, from, to, depth);
    return this.#changeLeaf(node, from, to, depth);
  }

  /** Changes a place where nothing is but, perhaps, `leaf`. */
  #changeLeaf(leaf: ShortNode | undefined, from: number, to: number, depth: number) {
    const first = this.order[from]!;
    if (to - from === 1 && (leaf === undefined || endsWith(this.keys[first]!, depth, leaf.path))) {
      const value = this.newValue(first, leaf?.payload);
      const path = leaf?.path ?? nibblesOf(this.keys[first]!, depth);
      return value && ({ kind: "leaf", path, payload: value } as const);
    }
    const keys: Uint8Array[] = [];
    const values: Uint8Array[] = [];
    let isReplaced = false;
    for (let i = from; i < to; i++) {
      const index = this.order[i]!;
      const key = this.keys[index]!;
      const isSame = leaf !== undefined && endsWith(key, depth, leaf.path);
      isReplaced ||= isSame;
      const value = this.newValue(index, isSame ? leaf.payload : undefined);
      if (value === undefined) continue;
      keys.push(key);
      values.push(value);
    }
    if (leaf !== undefined && !isReplaced) {
      if (keys.length === 0) return leaf;
      keys.push(this.#keyOf(leaf, depth));
      values.push(leaf.payload);
    }
    return new SubtrieBuilder(keys, values, this.writer).build(depth);
  }

  /** The key of the leaf at `depth`. */
  #keyOf(leaf: ShortNode, depth: number): Uint8Array {
    const nibbles = new Uint8Array(depth + leaf.path.length);
    nibbles.set(this.path.subarray(0, depth));
    nibbles.set(leaf.path, depth);
    return packNibbles(nibbles);
  }

  /** An extension that not all keys follow becomes a branch where the first of them leaves it, between what is left of its path. */
  #changeExtension(extension: ShortNode, from: number, to: number, depth: number) {
    const shared = this.#sharedLength(extension.path, from, to, depth);
    const common = extension.path.subarray(0, shared);
    this.path.set(common, depth);
    const below = depth + shared;
    if (shared === extension.path.length) {
      const changed = this.changeAt(extension.payload, from, to, below);
      return changed && prefixed(common, changed);
    }
    const children: (Subtrie | undefined)[] = new Array(16);
    children[extension.path[shared]!] = {
      kind: "extension",
      path: extension.path.subarray(shared + 1),
      payload: extension.payload,
    };
    const branch = this.changeBranch(undefined, children, from, to, below);
    return branch && prefixed(common, branch);
  }

  /** Number of nibbles of `nibbles` that all keys have from `depth` on. */
  #sharedLength(nibbles: Uint8Array, from: number, to: number, depth: number): number {
    let shared = nibbles.length;
    for (let i = from; i < to; i++) {
      const key = this.keys[this.order[i]!]!;
      const limit = Math.min(shared, key.length * 2 - depth);
      let length = 0;
      while (length < limit && nibbleAt(key, depth + length) === nibbles[length]) length++;
      shared = length;
    }
    return shared;
  }

  /** Follows the keys into the children of a branch: `old`, or one that so far consists of `children`. */
  protected changeBranch(
    old: BranchNode | undefined,
    children: (Subtrie | undefined)[],
    from: number,
    to: number,
    depth: number,
  ): Subtrie | undefined {
    const { keys, order } = this;
    groupByNibble(keys, order, from, to, depth);
    let changed = 0;
    for (let n = 0; n < 16; n++) if (children[n] !== undefined) changed |= 1 << n;
    let value = old && branchValue(old);
    let start = from;
    if (keys[order[start]!]!.length * 2 === depth) value = this.newValue(order[start++]!, value);
    while (start < to) {
      const nibble = nibbleAt(keys[order[start]!]!, depth);
      const end = groupEnd(keys, order, start, to, depth);
      this.path[depth] = nibble;
      const reference = old && childReference(old, nibble);
      children[nibble] = reference
        ? this.changeAt(reference, start, end, depth + 1)
        : this.change(children[nibble], start, end, depth + 1);
      changed |= 1 << nibble;
      start = end;
    }
    return this.closeBranch({ old, changed, children, value }, depth);
  }

  /** A branch of `old` with the children in `changed` replaced, or what is left of it. */
  protected closeBranch({ old, changed, children, value }: ClosingBranch, depth: number) {
    let count = 0;
    let last = 0;
    for (let n = 0; n < 16; n++) {
      const isThere = (changed >> n) & 1 ? children[n] !== undefined : old !== undefined && hasChild(old, n);
      if (!isThere) continue;
      count++;
      last = n;
    }
    if (count === 0) return value && ({ kind: "leaf", path: EMPTY_BYTES, payload: value } as const);
    if (count === 1 && value === undefined) {
      this.path[depth] = last;
      const child = children[last] ?? this.#reopen(childReference(old!, last)!, depth + 1);
      return prefixed(Uint8Array.of(last), child);
    }
    const references: (Uint8Array | undefined)[] = new Array(16);
    for (let n = 0; n < 16; n++) {
      const child = children[n];
      if (child === undefined) continue;
      this.path[depth] = n;
      references[n] = this.writer.subtrie(child, depth + 1);
    }
    const branch = encodeBranch({ old, changed, references, value });
    return branchSubtrie(this.writer.reference(branch, depth));
  }

  /** The node at `reference`, the only child left of a branch, as a subtrie. */
  #reopen(reference: Uint8Array, depth: number): Subtrie {
    const isHash = reference.length === HASH_LENGTH;
    const node = decodeNode(isHash ? this.nodes.get(reference, this.path, depth) : reference);
    // A branch stays where it is; anything else merges with what is above it.
    if (node.kind === "branch") return branchSubtrie(reference);
    if (isHash) this.sink.replace(this.path, depth, reference);
    return node;
  }
}

/** A branch all of whose changed children are known. */
type ClosingBranch = {
  readonly old: BranchNode | undefined;
  /** bit n: child n became `children[n]` */
  readonly changed: number;
  readonly children: readonly (Subtrie | undefined)[];
  readonly value: Uint8Array | undefined;
};

/** True when the nibbles of `key` from `start` on are `nibbles`. */
function endsWith(key: Uint8Array, start: number, nibbles: Uint8Array): boolean {
  if (key.length * 2 - start !== nibbles.length) return false;
  for (let i = 0; i < nibbles.length; i++) {
    if (nibbleAt(key, start + i) !== nibbles[i]) return false;
  }
  return true;
}
