import { equalBytes } from "../primitives/bytes.ts";
import { copyShared } from "../primitives/slab.ts";
import { descend } from "./descend.ts";
import { HASH_LENGTH } from "./node.ts";
import type { NodeCache } from "./node-cache.ts";
import { createNodeSource } from "./node-source.ts";
import type { TrieNode, TrieNodeReader } from "./node-store.ts";
import { type TrieChanges, updateTrie } from "./trie-update.ts";

export type TrieUpdate = {
  /** 32 bytes */
  readonly root: Uint8Array;
  /** Every node that the new root has and the old one had not, and perhaps some that both have; none when the root is the same. */
  readonly nodes: readonly TrieNode[];
};

/** A Merkle Patricia trie at any known root (Yellow Paper, appendix D). Methods throw MissingTrieNodeError where nodes were pruned. */
export interface Trie {
  /** A view of a node: copy what outlives the call. */
  get(root: Uint8Array, key: Uint8Array): Uint8Array | undefined;
  update(root: Uint8Array, changes: TrieChanges): TrieUpdate;
  /** Nodes from the root towards `key`, as far as there are any: proves its value, or that it has none. */
  prove(root: Uint8Array, key: Uint8Array): Uint8Array[];
}

/** @param owner as in TrieNodeReader */
export function createTrie(nodes: TrieNodeReader, cache: NodeCache, owner: Uint8Array): Trie {
  const resolve = createNodeSource(nodes, cache, owner);
  return {
    get: (root, key) => descend(root, key, resolve),
    update(root, changes) {
      const created: TrieNode[] = [];
      const next = updateTrie(resolve, root, changes, (path, depth, { rlp, reference }) => {
        if (reference.length < HASH_LENGTH) return;
        created.push({ owner, path: copyShared(path, 0, depth), hash: reference, rlp });
        cache.set(reference, rlp);
      });
      return { root: next, nodes: equalBytes(next, root) ? [] : created };
    },
    prove(root, key) {
      const proof: Uint8Array[] = [];
      descend(root, key, (hash, path, depth) => {
        const rlp = resolve(hash, path, depth);
        proof.push(rlp);
        return rlp;
      });
      return proof;
    },
  };
}
