import { NodeError } from "../errors.ts";
import { hexDigits } from "../primitives/hex.ts";
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
  /** undefined: to be read */
  cached(hash: Uint8Array): Uint8Array | undefined;
  /**
   * Reads the node at the first `depth` nibbles of `path`.
   * @throws MissingTrieNodeError
   */
  read(hash: Uint8Array, path: Uint8Array, depth: number): Uint8Array;
};

/** @param owner as in TrieNodeReader */
export function createNodeSource(
  nodes: TrieNodeReader,
  cache: NodeCache,
  owner: Uint8Array,
): NodeSource {
  return {
    cached: (hash) => cache.get(hash),
    read(hash, path, depth) {
      const place = path.slice(0, depth);
      const found = nodes.node(owner, place, hash);
      if (found === undefined) throw new MissingTrieNodeError(hash, place);
      cache.set(hash, found);
      return found;
    },
  };
}
