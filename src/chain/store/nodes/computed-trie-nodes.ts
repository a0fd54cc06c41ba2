import { invariant } from "../../../base/errors.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Block } from "../../../base/types/block.ts";
import { EMPTY_TRIE_ROOT } from "../../../base/types/constants.ts";
import type { StateChanges, StateReader } from "../../../evm/state/reader.ts";
import { reverseChanges } from "../../../evm/state/state-changes.ts";
import type { StateTrie, StateTrieOptions } from "../../../evm/state/state-trie.ts";
import type { NodeBatch } from "../../../store/trie/node-batch.ts";
import { NODE_CACHE_BYTES_MIN } from "../../../store/trie/node-cache.ts";
import type { TrieNodeReader } from "../../../store/trie/node-store.ts";
import type { BlockRecord } from "../../block-store.ts";
import { StateRootMismatchError } from "../../store-errors.ts";
import { rootOf, type StatelessBlocks } from "../stateless-blocks.ts";

/** The trie that recomputes missing nodes, on top of the stored ones. */
export type CreateTrie = (nodes: TrieNodeReader, options?: StateTrieOptions) => Pick<StateTrie, "update">;

/** A rollback makes one update: filling the index of a large cache with zeros would take longer. */
const ONE_UPDATE: StateTrieOptions = { cacheBytes: NODE_CACHE_BYTES_MIN };

/** Trie nodes of states after the last checkpoint, which no row holds: made again from what the blocks changed. */
export class ComputedTrieNodes {
  readonly #createTrie: CreateTrie;
  readonly #recordOf: (number: number) => BlockRecord | undefined;
  readonly #stateAt: (number: number) => StateReader;
  readonly #stateless: StatelessBlocks | undefined;
  /** The nodes of blocks `first` to `last`, which has this hash. */
  #computed: { readonly first: number; readonly last: number; readonly hash: Hash; nodes: TrieNodeOverlay } | undefined;

  constructor(
    createTrie: CreateTrie,
    recordOf: (number: number) => BlockRecord | undefined,
    stateAt: (number: number) => StateReader,
    stateless: StatelessBlocks | undefined,
  ) {
    this.#createTrie = createTrie;
    this.#recordOf = recordOf;
    this.#stateAt = stateAt;
    this.#stateless = stateless;
  }

  /**
   * The nodes that lead from the state after block `last`, which `known` has, back to that after `number`.
   * @throws StateRootMismatchError
   */
  nodesBack(known: TrieNodeReader, last: number, number: number): NodeBatch {
    const recordOf = (block: number) => this.#known(block);
    function* changes() {
      for (let block = number + 1; block <= last; block++) yield recordOf(block).changes;
    }
    const before = reverseChanges(changes(), this.#stateAt(number));
    const { stateRoot } = this.#known(last).block.header;
    const record = { block: this.#known(number).block, changes: before };
    return trieNodesOf(record, this.#createTrie(known, ONE_UPDATE), stateRoot);
  }

  /**
   * `checkpoint`, which knows the nodes before block `first`, with those of `first` to `last`. The last result stays in memory, and
   * a later block costs only the blocks since.
   */
  over(checkpoint: TrieNodeReader, first: number, last: number): TrieNodeReader {
    const known = this.#computed;
    const isOfChain = known?.first === first && this.#recordOf(known.last)?.block.hash === known.hash;
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
  compute(first: number, last: number, known: TrieNodeReader, keep: (nodes: NodeBatch) => void): void {
    const trie = this.#createTrie(known);
    const parent = this.#recordOf(first - 1)?.block.header;
    let root = parent === undefined ? EMPTY_TRIE_ROOT : rootOf(parent, this.#stateless);
    for (let number = first; number <= last; number++) {
      const record = this.#known(number);
      keep(trieNodesOf(record, trie, root, this.#stateless));
      root = rootOf(record.block.header, this.#stateless);
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
  { block, changes }: { readonly block: Pick<Block, "header">; readonly changes: StateChanges },
  trie: Pick<StateTrie, "update">,
  parentRoot: Hash,
  stateless?: StatelessBlocks,
): NodeBatch {
  const { number } = block.header;
  const stateRoot = rootOf(block.header, stateless);
  const { root, nodes } = trie.update(parentRoot, changes);
  if (root === stateRoot) return nodes;
  throw new StateRootMismatchError({ number, computed: root, stored: stateRoot });
}

/** Trie nodes in memory in front of others. */
export class TrieNodeOverlay implements TrieNodeReader {
  readonly #below: TrieNodeReader;
  /** By owner, path and hash; the same node may be in several places. */
  readonly #nodes = new Map<string, Uint8Array>();

  constructor(below: TrieNodeReader) {
    this.#below = below;
  }

  node(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    return this.#nodes.get(nameOf(owner, path, hash)) ?? this.#below.node(owner, path, hash);
  }

  add(nodes: NodeBatch): void {
    for (const { owner, path, hash, rlp } of nodes) this.#nodes.set(nameOf(owner, path, hash), rlp);
  }
}

function nameOf(...parts: readonly Uint8Array[]): string {
  return parts.map((part) => Buffer.from(part).toString("latin1")).join("/");
}
