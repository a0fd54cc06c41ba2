import { hexDigits } from "../../../../src/base/primitives/hex.ts";
import type { TrieNode, TrieNodeReader } from "../../../../src/store/trie/node-store.ts";

/** Nodes in a Map, under the key a store would use. */
export function createMemoryNodes(): TrieNodeReader & {
  readonly size: number;
  keep(nodes: Iterable<TrieNode>): void;
} {
  const kept = new Map<string, Uint8Array>();
  const keyOf = (owner: Uint8Array, path: Uint8Array, hash: Uint8Array) =>
    `${hexDigits(owner)}/${hexDigits(path)}/${hexDigits(hash)}`;
  return {
    get size() {
      return kept.size;
    },
    node: (owner, path, hash) => kept.get(keyOf(owner, path, hash)),
    keep(nodes) {
      for (const { owner, path, hash, rlp } of nodes) kept.set(keyOf(owner, path, hash), rlp.slice());
    },
  };
}
