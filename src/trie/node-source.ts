import { NodeError } from "../errors.ts";
import { hexDigits } from "../primitives/hex.ts";
import type { ResolveNode } from "./descend.ts";
import type { NodeCache } from "./node-cache.ts";
import type { TrieNodeReader } from "./node-store.ts";

/** A node of a known root is not there: that state was pruned. */
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
export function createNodeSource(
  nodes: TrieNodeReader,
  cache: NodeCache,
  owner: Uint8Array,
): NodeSource {
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
