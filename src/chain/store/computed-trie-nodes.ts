import { invariant } from "../../errors.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { StateTrie } from "../../state/state-trie.ts";
import type { TrieNode, TrieNodeReader } from "../../trie/node-store.ts";
import { EMPTY_TRIE_ROOT } from "../../types/constants.ts";
import type { BlockRecord } from "./block-store.ts";
import { StateRootMismatchError } from "./store-errors.ts";
import { TrieNodeOverlay } from "./trie-node-overlay.ts";

/** The trie that computes nodes again, over those that are there. */
export type CreateTrie = (nodes: TrieNodeReader) => Pick<StateTrie, "update">;

/** Trie nodes of states between two checkpoints, which no row holds: made again from what the blocks changed. */
export class ComputedTrieNodes {
  readonly #createTrie: CreateTrie;
  readonly #recordOf: (number: number) => BlockRecord | undefined;
  /** The nodes of blocks `first` to `last`, which has this hash. */
  #computed:
    | { readonly first: number; readonly last: number; readonly hash: Hash; nodes: TrieNodeOverlay }
    | undefined;

  constructor(createTrie: CreateTrie, recordOf: (number: number) => BlockRecord | undefined) {
    this.#createTrie = createTrie;
    this.#recordOf = recordOf;
  }

  /**
   * `checkpoint`, which knows the nodes before block `first`, with those of `first` to `last`. The last result stays in memory, and
   * a later block costs only the blocks since.
   */
  over(checkpoint: TrieNodeReader, first: number, last: number): TrieNodeReader {
    const known = this.#computed;
    const isOfChain =
      known?.first === first && this.#recordOf(known.last)?.block.hash === known.hash;
    if (isOfChain && last <= known.last) return known.nodes;
    const nodes = isOfChain ? known.nodes : new TrieNodeOverlay(checkpoint);
    this.compute(isOfChain ? known.last + 1 : first, last, nodes, (made) => nodes.add(made));
    this.#computed = { first, last, hash: this.#known(last).block.hash, nodes };
    return nodes;
  }

  /**
   * Computes the nodes of blocks `first` to `last`; `keep` puts them where `known` finds them.
   * @throws StateRootMismatchError
   */
  compute(
    first: number,
    last: number,
    known: TrieNodeReader,
    keep: (nodes: readonly TrieNode[]) => void,
  ): void {
    const trie = this.#createTrie(known);
    let root = this.#recordOf(first - 1)?.block.header.stateRoot ?? EMPTY_TRIE_ROOT;
    for (let number = first; number <= last; number++) {
      const record = this.#known(number);
      keep(trieNodesOf(record, trie, root));
      root = record.block.header.stateRoot;
    }
  }

  #known(number: number): BlockRecord {
    const record = this.#recordOf(number);
    invariant(record !== undefined, `block ${number} must be known`);
    return record;
  }
}

/**
 * The nodes that a block makes of its parent's state.
 * @throws StateRootMismatchError
 */
export function trieNodesOf(
  { block, changes }: Pick<BlockRecord, "block" | "changes">,
  trie: Pick<StateTrie, "update">,
  parentRoot: Hash,
): readonly TrieNode[] {
  const { number, stateRoot } = block.header;
  const { root, nodes } = trie.update(parentRoot, changes);
  if (root === stateRoot) return nodes;
  throw new StateRootMismatchError({ number, computed: root, stored: stateRoot });
}
