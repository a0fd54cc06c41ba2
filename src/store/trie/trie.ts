import { equalBytes } from "../../base/primitives/bytes.ts";
import { copyShared } from "../../base/primitives/slab.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { FEW_KEYS_MAX, updateFewKeys } from "./few-keys.ts";
import { updateTrie } from "./in-place-update.ts";
import type { NodeBatch } from "./node-batch.ts";
import type { NodeCache } from "./node-cache.ts";
import { leafWithHash } from "./node-encoder.ts";
import { createNodeSource, type TrieNodeReader } from "./node-store.ts";
import { descend } from "./proof.ts";
import type { NodeSink } from "./subtrie.ts";
import { type TrieChanges, TrieUpdate } from "./trie-update.ts";

type UpdatedTrie = {
  /** 32 bytes */
  readonly root: Uint8Array;
  /** True when the new root is the old one. */
  readonly isSame: boolean;
};

/** A Merkle Patricia trie at any known root (Yellow Paper, appendix D). Methods throw MissingTrieNodeError where nodes were pruned. */
export interface Trie {
  /**
   * A view of a node: copy what outlives the call.
   * @param known the value, as far as is known: if its leaf has the hash that its parent says, it is not read
   */
  get(root: Uint8Array, key: Uint8Array, known?: Uint8Array): Uint8Array | undefined;
  /**
   * Adds to `batch` every node that the new root has and the old one had not, and perhaps some that both have, and every node that
   * is replaced or removed. Where the root is the same, what was added means no difference.
   */
  update(root: Uint8Array, changes: TrieChanges, batch: NodeBatch): UpdatedTrie;
  /** Nodes from the root towards `key`, as far as there are any: proves its value, or that it has none. */
  prove(root: Uint8Array, key: Uint8Array): Uint8Array[];
}

/** @param owner as in TrieNodeReader */
export function createTrie(nodes: TrieNodeReader, cache: NodeCache, owner: Uint8Array): Trie {
  const source = createNodeSource(nodes, cache, owner);
  return {
    get(root, key, known) {
      if (known === undefined) return descend(root, key, source.get);
      return descend(root, key, (hash, path, depth) => {
        const cached = cache.get(hash);
        if (cached !== undefined) return cached;
        const leaf = leafWithHash(key, depth, known, hash);
        return leaf ? copyShared(leaf.bytes, 0, leaf.length) : source.get(hash, path, depth);
      });
    },
    update(root, changes, batch) {
      const values: (Uint8Array | undefined)[] = [];
      const count = changes.keys.length;
      const isFew = count <= FEW_KEYS_MAX;
      if (isFew && count > 0 && !equalBytes(root, EMPTY_TRIE_ROOT_BYTES)) {
        const next = updateFewKeys(root, changes, values, { owner, source, cache, batch });
        if (next !== undefined) return { root: next, isSame: equalBytes(next, root) };
      }
      // The next update will know the value of a leaf as this one does, and the cache has room for more branches.
      const cachesLeaves = changes.knownValue === undefined;
      const sink: NodeSink = {
        add: (path, depth, rlp, length) => batch.add(owner, path, depth, rlp, length, cache),
        addHashed(bytes, pathStart, depth, length, isLeaf) {
          batch.addHashed(owner, bytes, pathStart, depth, length);
          if (cachesLeaves || !isLeaf) batch.cacheLast(cache);
        },
        replace: (path, depth, hash) => batch.note(owner, path, depth, hash),
      };
      const modules = { source, changes: values.length === 0 ? changes : withValues(changes, values), sink };
      // To hash nodes in pairs takes a module whose compilation a process with small blocks need not wait for.
      const next = isFew ? new TrieUpdate(modules).apply(root) : updateTrie(root, modules);
      return { root: next, isSame: equalBytes(next, root) };
    },
    prove(root, key) {
      const proof: Uint8Array[] = [];
      descend(root, key, (hash, path, depth) => {
        const rlp = source.get(hash, path, depth);
        proof.push(rlp);
        return rlp;
      });
      return proof;
    },
  };
}

/** `changes` of which these values are known: each is asked for once. */
function withValues(changes: TrieChanges, values: readonly (Uint8Array | undefined)[]): TrieChanges {
  return { ...changes, valueOf: (index) => values[index] };
}
