import { bigintToBytes } from "../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../primitives/hash.ts";
import { keccak256, keccak256Message, keccakMessage } from "../primitives/keccak.ts";
import { encodeRlp } from "../primitives/rlp.ts";
import { allocateShared } from "../primitives/slab.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { updateTrie } from "./in-place-update.ts";
import { IndexTrie } from "./index-trie.ts";
import { HASH_LENGTH } from "./node.ts";
import type { NodeSink } from "./subtrie.ts";
import { withUnhashedNodes } from "./unhashed-nodes.ts";

/** Hashes nodes and forgets them. */
export const HASH_ONLY: NodeSink = {
  add(_path, _depth, rlp, length) {
    if (rlp !== keccakMessage) return keccak256(rlp.subarray(0, length));
    const hash = allocateShared(HASH_LENGTH);
    keccak256Message(length, hash, 0);
    return hash;
  },
  addHashed() {},
  replace() {},
};

/**
 * Root of the trie that maps RLP(index) to `values[index]`: transactionsRoot, receiptsRoot, withdrawalsRoot
 * (Yellow Paper 4.3.2, EIP-4895). None of the values is empty; no node is stored.
 */
export function orderedTrieRoot(values: readonly Uint8Array[]): Hash {
  const hasHashes = values.length > 0 && values.every(({ length }) => length >= HASH_LENGTH);
  if (hasHashes) {
    const root = withUnhashedNodes((nodes) => new IndexTrie(values, nodes).root());
    return hashFromBytes(root);
  }
  const keys = values.map((_, index) => encodeRlp(bigintToBytes(BigInt(index))));
  const changes = { keys, valueOf: (index: number) => values[index] };
  return hashFromBytes(
    updateTrie(EMPTY_TRIE_ROOT_BYTES, { source: undefined, changes, sink: HASH_ONLY }),
  );
}
