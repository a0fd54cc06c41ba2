import type { Hash } from "../../base/primitives/hash.ts";
import { hexDigits } from "../../base/primitives/hex.ts";
import type { TrieNodeReader } from "../../store/trie/node-store.ts";
import type { StateChanges } from "./reader.ts";
import { createStateTrie, type StateTrie } from "./state-trie.ts";

/** Memory for nodes that are read; created nodes stay as long as the trie. */
const CACHE_BYTES = 4 << 20;

/** The state after changes one after the other, whose nodes are nowhere else. */
export class UnstoredTrie {
  /** RLP of the nodes made so far, by hash. */
  readonly #made = new Map<string, Uint8Array>();
  readonly #trie: StateTrie;
  #root: Hash;

  /** @param stored nodes of the state that has `root` */
  constructor(stored: TrieNodeReader, root: Hash) {
    const nodes: TrieNodeReader = {
      node: (owner, path, hash) => this.#made.get(hexDigits(hash)) ?? stored.node(owner, path, hash),
    };
    this.#trie = createStateTrie(nodes, { cacheBytes: CACHE_BYTES });
    this.#root = root;
  }

  /** The root after `changes` too. @throws MissingTrieNodeError */
  update(changes: StateChanges): Hash {
    const { root, nodes } = this.#trie.update(this.#root, changes);
    for (const { hash, rlp } of nodes) if (rlp.length > 0) this.#made.set(hexDigits(hash), rlp);
    this.#root = root;
    return root;
  }
}
