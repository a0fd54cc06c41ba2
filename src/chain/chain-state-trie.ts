import type { Hash } from "../primitives/hash.ts";
import { createStateTrie, type StateTrieOptions } from "../state/merkle-state-trie.ts";
import type { StateTrie } from "../state/state-trie.ts";
import { MissingTrieNodeError } from "../trie/node-source.ts";
import type { BlockStore } from "./store/block-store.ts";

/** A trie of an old state is used once or twice: its caches need not be large. */
const OLD_TRIE_OPTIONS = { cacheBytes: 1 << 20 };

/**
 * The state trie of a chain, at every root that a block has. The newest state is worked on again and
 * again and has caches of its own; nodes of an older one that were replaced before the store wrote
 * them are computed by the store.
 * @param options of the newest state's
 */
export function createChainStateTrie(
  store: Pick<BlockStore, "trieNodes" | "trieNodesAt" | "numberOfState">,
  options: StateTrieOptions = {},
): StateTrie {
  const newest = createStateTrie(store.trieNodes, options);
  const at = <T>(root: Hash, use: (trie: StateTrie) => T): T => {
    try {
      return use(newest);
    } catch (error) {
      if (!(error instanceof MissingTrieNodeError)) throw error;
      const number = store.numberOfState(root);
      if (number === undefined) throw error;
      return use(createStateTrie(store.trieNodesAt(number), OLD_TRIE_OPTIONS));
    }
  };
  return {
    update: (parentRoot, changes) => at(parentRoot, (trie) => trie.update(parentRoot, changes)),
    prefetch: (root, address, slots) => at(root, (trie) => trie.prefetch(root, address, slots)),
    prove: (root, address, slots) => at(root, (trie) => trie.prove(root, address, slots)),
  };
}
