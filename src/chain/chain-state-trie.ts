import type { Hash } from "../base/primitives/hash.ts";
import { createStateTrie, type StateTrie, type StateTrieOptions } from "../evm/state/state-trie.ts";
import { ChunkedNodeCache, type NodeCache } from "../store/trie/node-cache.ts";
import { MissingTrieNodeError, type TrieNodeReader } from "../store/trie/node-store.ts";
import type { BlockStore } from "./block-store.ts";

/** For the nodes of all old states together: some hundred proofs. */
const OLD_NODES_BYTES = 1 << 20;

/**
 * The state trie of a chain at the root of any block. Every block reads the newest state, so it has its own cache. The store recomputes
 * nodes of an older state that were replaced before it wrote them.
 * @param options of the newest state's
 */
export function createChainStateTrie(
  store: Pick<BlockStore, "trieNodes" | "trieNodesAt" | "numberOfState">,
  options: StateTrieOptions = {},
): StateTrie {
  const newest = createStateTrie(store.trieNodes, options);
  let oldNodes: NodeCache | undefined;
  /** The last of the roots whose nodes the store computes: a process that follows the store asks for the head's again and again. */
  let computed: { readonly root: Hash; readonly nodes: TrieNodeReader; readonly trie: StateTrie } | undefined;

  /** @throws StatePrunedError */
  function computedAt(root: Hash): StateTrie | undefined {
    const number = store.numberOfState(root);
    if (number === undefined) return undefined;
    const nodes = store.trieNodesAt(number);
    if (computed?.root !== root || computed.nodes !== nodes) {
      oldNodes ??= new ChunkedNodeCache(OLD_NODES_BYTES);
      computed = { root, nodes, trie: createStateTrie(nodes, { cache: oldNodes }) };
    }
    return computed.trie;
  }

  function at<T>(root: Hash, use: (trie: StateTrie) => T): T {
    let missing: MissingTrieNodeError | undefined;
    if (computed?.root !== root) {
      try {
        return use(newest);
      } catch (error) {
        if (!(error instanceof MissingTrieNodeError)) throw error;
        missing = error;
      }
    }
    const trie = computedAt(root);
    if (trie === undefined) throw missing;
    return use(trie);
  }

  return {
    update: (parentRoot, changes, known) => at(parentRoot, (trie) => trie.update(parentRoot, changes, known)),
    prefetch: (root, address, slots, known) => at(root, (trie) => trie.prefetch(root, address, slots, known)),
    prove: (root, address, slots) => at(root, (trie) => trie.prove(root, address, slots)),
  };
}
