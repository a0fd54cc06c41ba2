import { EMPTY_BYTES } from "../primitives/bytes.ts";
import { keccakMessage } from "../primitives/keccak.ts";
import { copyShared } from "../primitives/slab.ts";
import { BranchFrame } from "./branch-frame.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { HASH_LENGTH } from "./node.ts";
import {
  branchLength,
  encodeLeaf,
  extensionLength,
  leafLength,
  writeBranch,
  writeExtension,
  writeLeaf,
} from "./node-encoder.ts";
import type { NodeSink } from "./trie-update.ts";
import { unhashed } from "./unhashed-nodes.ts";

/** Bytes of every key: a keccak256. */
export const TRIE_KEY_LENGTH = 32;

/** All leaves of a trie. */
export type TrieLeaves = {
  /** The keys one after the other, in any order; all different. */
  readonly keys: Uint8Array;
  /** Number of each key, in ascending order of the keys. */
  readonly order: ArrayLike<number>;
  /** The value of key number `index`, of 1 to 900 bytes; a view that the next call may overwrite. Asked once for each key, in ascending order. */
  valueOf(index: number): Uint8Array;
};

/**
 * Root of the trie with these leaves. Nodes go to `sink` in post-order, children before their parent, which is the order of
 * their rows (trie-node-table.ts); nothing of them stays in memory.
 */
export function buildTrie(leaves: TrieLeaves, sink: Omit<NodeSink, "replace">): Uint8Array {
  const first = unhashed.count;
  try {
    return new TrieBuild(leaves, sink, first).root();
  } finally {
    unhashed.truncate(first);
  }
}

class TrieBuild {
  readonly #leaves: TrieLeaves;
  readonly #sink: Omit<NodeSink, "replace">;
  readonly #firstUnhashed: number;
  /** Nibbles from the root to the node that is built. */
  readonly #path = new Uint8Array(TRIE_KEY_LENGTH * 2);
  /** By depth: the branch that is built there. */
  readonly #frames: BranchFrame[] = [];

  constructor(leaves: TrieLeaves, sink: Omit<NodeSink, "replace">, firstUnhashed: number) {
    this.#leaves = leaves;
    this.#sink = sink;
    this.#firstUnhashed = firstUnhashed;
  }

  root(): Uint8Array {
    const { length } = this.#leaves.order;
    if (length === 0) return EMPTY_TRIE_ROOT_BYTES;
    const reference = this.#build(0, length, 0);
    if (reference === undefined) {
      const last = unhashed.count - 1;
      unhashed.hash(this.#firstUnhashed, this.#sink.addHashed);
      const start = unhashed.hashStart(last);
      return unhashed.bytes.slice(start, start + HASH_LENGTH);
    }
    // A root has its hash however short it is.
    keccakMessage.set(reference);
    return this.#sink.add(this.#path, 0, keccakMessage, reference.length);
  }

  /**
   * Builds the subtrie of leaves `from` to `to`, which share their first `depth` nibbles.
   * @returns its root where that is too short for a hash; undefined where it is the last of the nodes without a hash
   */
  #build(from: number, to: number, depth: number): Uint8Array | undefined {
    if (to - from === 1) return this.#leaf(this.#leaves.order[from]!, depth);
    // What the first and the last key share, those between share too.
    let branchDepth = depth;
    for (;;) {
      const nibble = this.#nibble(from, branchDepth);
      if (nibble !== this.#nibble(to - 1, branchDepth)) break;
      this.#path[branchDepth++] = nibble;
    }
    const branch = this.#branch(from, to, branchDepth);
    if (branchDepth === depth) return branch;
    return this.#extension(depth, branchDepth, branch);
  }

  #leaf(index: number, depth: number): Uint8Array | undefined {
    const start = index * TRIE_KEY_LENGTH;
    const key = this.#leaves.keys.subarray(start, start + TRIE_KEY_LENGTH);
    const value = this.#leaves.valueOf(index);
    const length = leafLength(key, depth, value);
    if (length < HASH_LENGTH) return copyShared(encodeLeaf(key, depth, value).bytes, 0, length);
    const at = unhashed.add(this.#path, depth, length);
    writeLeaf(key, depth, value, unhashed.bytes, at);
    return undefined;
  }

  #branch(from: number, to: number, depth: number): Uint8Array | undefined {
    while (this.#frames.length <= depth) this.#frames.push(new BranchFrame());
    const frame = this.#frames[depth]!;
    frame.begin(EMPTY_BYTES, unhashed.count);
    const short: (Uint8Array | undefined)[] = [];
    for (let start = from, end = from; start < to; start = end) {
      const nibble = this.#nibble(start, depth);
      end = this.#groupEnd(start, to, depth);
      this.#path[depth] = nibble;
      const reference = this.#build(start, end, depth + 1);
      if (reference !== undefined) short[nibble] = reference;
      else frame.setUnhashed(nibble, unhashed.count - 1);
      if (unhashed.isFull) this.#hashAll(depth);
    }
    const length = branchLength(frame.hashed | frame.unhashed, short);
    if (length < HASH_LENGTH) {
      const bytes = new Uint8Array(length);
      writeBranch(0, short, bytes, 0, frame.offsets);
      return bytes;
    }
    const at = unhashed.add(this.#path, depth, length);
    writeBranch(frame.hashed | frame.unhashed, short, unhashed.bytes, at, frame.offsets);
    frame.writeHashes(unhashed, at);
    return undefined;
  }

  /** The extension from `depth` to the branch at `branchDepth`, which is `branch`, or the last node without a hash. */
  #extension(
    depth: number,
    branchDepth: number,
    branch: Uint8Array | undefined,
  ): Uint8Array | undefined {
    const path = this.#path.slice(depth, branchDepth);
    const child = unhashed.count - 1;
    const length = extensionLength(path, branch);
    if (length < HASH_LENGTH) {
      const bytes = new Uint8Array(length);
      writeExtension(path, branch, bytes, 0);
      return bytes;
    }
    const at = unhashed.add(this.#path, depth, length);
    const end = writeExtension(path, branch, unhashed.bytes, at);
    if (branch === undefined) unhashed.refer(child, end - HASH_LENGTH);
    return undefined;
  }

  /** Hashes all nodes so far; the branches under way, down to `depth`, take the hashes of their children. */
  #hashAll(depth: number): void {
    unhashed.hash(this.#firstUnhashed, this.#sink.addHashed);
    for (let above = 0; above <= depth; above++) {
      this.#frames[above]!.takeHashes(unhashed, this.#firstUnhashed);
    }
  }

  /** Where the leaves end that share the nibble at `depth` with number `start`. */
  #groupEnd(start: number, to: number, depth: number): number {
    const nibble = this.#nibble(start, depth);
    let end = start + 1;
    while (end < to && this.#nibble(end, depth) === nibble) end++;
    return end;
  }

  #nibble(at: number, depth: number): number {
    const { keys, order } = this.#leaves;
    const byte = keys[order[at]! * TRIE_KEY_LENGTH + (depth >> 1)]!;
    return (depth & 1) === 0 ? byte >> 4 : byte & 15;
  }
}
