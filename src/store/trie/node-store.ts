import { NodeError } from "../../base/errors.ts";
import { hexDigits } from "../../base/primitives/hex.ts";
import type { NodeCache } from "./node-cache.ts";
import type { ResolveNode } from "./proof.ts";

/**
 * Where trie nodes are read from: by the trie they are in, the path there, and their hash. A node never changes; what is at a path does, and
 * which versions are still there is the matter of the store.
 */
export interface TrieNodeReader {
  /**
   * RLP of a node, or undefined when it is not there. The caller may hold on to the bytes, which must not change.
   * @param owner 0 or 32 bytes
   * @param path nibbles from the root, one a byte
   * @param hash keccak256 of the RLP, 32 bytes
   */
  node(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined;
}

/** A node to be stored; views of the batch it is in. */
export type TrieNode = {
  readonly owner: Uint8Array;
  readonly path: Uint8Array;
  readonly hash: Uint8Array;
  readonly rlp: Uint8Array;
};

/** A trie node of a known root is missing, because the state was pruned. */
export class MissingTrieNodeError extends NodeError {
  readonly code = "TRIE_NODE_MISSING";
  constructor(hash: Uint8Array, path: Uint8Array) {
    super(`missing trie node ${hexDigits(hash)} (path ${hexDigits(path)})`, { hash, path });
  }
}

/** Nodes of one trie by their hashes: RLP, as views that stay valid. */
export type NodeSource = {
  /** The node at the first `depth` nibbles of `path`, which is cached from then on. */
  readonly get: ResolveNode;
  /** As `NodeCache.take`. */
  take(bytes: Uint8Array, start: number): Uint8Array | undefined;
  /** As `get`, of a node that is not cached, and not to be. */
  readonly read: ResolveNode;
};

/**
 * `get` and `read` throw MissingTrieNodeError.
 * @param owner as in TrieNodeReader
 */
export function createNodeSource(nodes: TrieNodeReader, cache: NodeCache, owner: Uint8Array): NodeSource {
  const read: ResolveNode = (hash, path, depth) => {
    const place = path.slice(0, depth);
    const found = nodes.node(owner, place, hash);
    if (found === undefined) throw new MissingTrieNodeError(hash, place);
    return found;
  };
  return {
    get(hash, path, depth) {
      const cached = cache.get(hash);
      if (cached !== undefined) return cached;
      const found = read(hash, path, depth);
      cache.set(hash, found);
      return found;
    },
    take: (bytes, start) => cache.take(bytes, start),
    read,
  };
}
