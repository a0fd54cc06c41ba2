import { keccakMessage } from "../primitives/keccak.ts";
import { copyShared } from "../primitives/slab.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { HASH_LENGTH } from "./node.ts";
import { type EncodedNode, encodeBranch, encodeLeaf, encodeShortNode } from "./node-encoder.ts";
import type { NodeSink } from "./trie-update.ts";

/** Bytes of every key: a keccak256. */
export const TRIE_KEY_LENGTH = 32;

/** All leaves of a trie. */
export type TrieLeaves = {
  /** The keys one after the other, in any order; all different. */
  readonly keys: Uint8Array;
  /** Number of each key, in ascending order of the keys. */
  readonly order: ArrayLike<number>;
  /** The value of key number `index`, not empty; a view that the next call may overwrite. Asked once for each key, in ascending order. */
  valueOf(index: number): Uint8Array;
};

/**
 * Root of the trie with these leaves. Nodes go to `sink` in post-order, children before their parent, which is the order of
 * their rows (trie-node-table.ts); nothing of them stays in memory.
 */
export function buildTrie(leaves: TrieLeaves, sink: Pick<NodeSink, "add">): Uint8Array {
  const { keys, order } = leaves;
  /** Nibbles from the root to the node that is built. */
  const path = new Uint8Array(TRIE_KEY_LENGTH * 2);

  const nibbleOf = (at: number, depth: number): number => {
    const byte = keys[order[at]! * TRIE_KEY_LENGTH + (depth >> 1)]!;
    return (depth & 1) === 0 ? byte >> 4 : byte & 15;
  };

  /** How a parent refers to the node just encoded at `depth`. */
  const referenceOf = ({ bytes, length }: EncodedNode, depth: number): Uint8Array =>
    length < HASH_LENGTH ? copyShared(bytes, 0, length) : sink.add(path, depth, bytes, length);

  /** Reference of the subtrie of leaves `from` to `to`, which share their first `depth` nibbles. */
  const build = (from: number, to: number, depth: number): Uint8Array => {
    if (to - from === 1) {
      const index = order[from]!;
      const start = index * TRIE_KEY_LENGTH;
      const value = leaves.valueOf(index);
      return referenceOf(
        encodeLeaf(keys.subarray(start, start + TRIE_KEY_LENGTH), depth, value),
        depth,
      );
    }
    // What the first and the last key share, those between share too.
    let branchDepth = depth;
    for (;;) {
      const nibble = nibbleOf(from, branchDepth);
      if (nibble !== nibbleOf(to - 1, branchDepth)) break;
      path[branchDepth++] = nibble;
    }
    const references: (Uint8Array | undefined)[] = new Array(16);
    let changed = 0;
    for (let start = from, end = from; start < to; start = end) {
      const nibble = nibbleOf(start, branchDepth);
      end = start + 1;
      while (end < to && nibbleOf(end, branchDepth) === nibble) end++;
      path[branchDepth] = nibble;
      references[nibble] = build(start, end, branchDepth + 1);
      changed |= 1 << nibble;
    }
    const branch = encodeBranch({ old: undefined, changed, references, value: undefined });
    const payload = referenceOf(branch, branchDepth);
    if (branchDepth === depth) return payload;
    const shared = path.slice(depth, branchDepth);
    return referenceOf(encodeShortNode({ kind: "extension", path: shared, payload }), depth);
  };

  if (order.length === 0) return EMPTY_TRIE_ROOT_BYTES;
  const reference = build(0, order.length, 0);
  if (reference.length === HASH_LENGTH) return reference;
  // A root has its hash however short it is.
  keccakMessage.set(reference);
  return sink.add(path, 0, keccakMessage, reference.length);
}
