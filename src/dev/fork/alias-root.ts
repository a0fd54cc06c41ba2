import type { Hash } from "../../primitives/hash.ts";
import type { StateTrie } from "../../state/state-trie.ts";

/**
 * `trie` under another name for one of its roots. The header of the forked block has the root of the remote state, of which only what this chain
 * adds is stored.
 */
export function aliasRoot(trie: StateTrie, stored: Hash, alias: Hash): StateTrie {
  const named = (root: Hash) => (root === alias ? stored : root);
  return {
    update(parentRoot, changes, known) {
      const { root, nodes } = trie.update(named(parentRoot), changes, known);
      return { root: root === stored ? alias : root, nodes };
    },
    prefetch: (root, address, slots, known) => trie.prefetch(named(root), address, slots, known),
    prove: (root, address, slots) => trie.prove(named(root), address, slots),
  };
}
