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

/**
 * Nodes of one trie, through the cache. What it gives throws MissingTrieNodeError.
 * @param owner as in TrieNodeReader
 */
export function createNodeSource(
  nodes: TrieNodeReader,
  cache: NodeCache,
  owner: Uint8Array,
): ResolveNode {
  return (hash, path, depth) => {
    const cached = cache.get(hash);
    if (cached !== undefined) return cached;
    const place = path.slice(0, depth);
    const found = nodes.node(owner, place, hash);
    if (found === undefined) throw new MissingTrieNodeError(hash, place);
    cache.set(hash, found);
    return found;
  };
}
