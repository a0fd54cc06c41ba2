import type { Hash } from "../../primitives/hash.ts";
import type { StateChanges, StateReader } from "../../state/reader.ts";
import type { TrieNode, TrieNodeReader } from "../../trie/node-store.ts";
import type { ExecutedBlock } from "../../types/block.ts";

/** All that a block leaves behind: what `append` writes to the block log. */
export type BlockRecord = ExecutedBlock & {
  readonly changes: StateChanges;
  /** What the consensus engine keeps with the block; opaque here, empty for genesis and imported blocks. */
  readonly consensusData: Uint8Array;
};

/** The blocks of one chain from genesis to head with every state between: the block log and its index. */
export interface BlockStore {
  /** Number of the newest block; undefined while the store is empty. */
  head(): number | undefined;
  /**
   * Adds the block after head (0 to an empty store). Returns when the block is on disk to stay.
   * @param nodes trie nodes of its state root
   */
  append(record: BlockRecord, nodes: readonly TrieNode[]): void;
  block(number: number): ExecutedBlock | undefined;
  numberOf(blockHash: Hash): number | undefined;
  /** A block after which the state has this root. */
  numberOfState(stateRoot: Hash): number | undefined;
  transaction(hash: Hash): { readonly number: number; readonly index: number } | undefined;
  /** The state after block `number`, which must be known. */
  stateAt(number: number): StateReader;
  /** What block `number` changed. */
  changes(number: number): StateChanges;
  /** `consensusData` of block `number`, which must be known. */
  consensusData(number: number): Uint8Array;
  /** Nodes of the newest state, to build the next one on. */
  readonly trieNodes: TrieNodeReader;
  /** Nodes of the state after block `number`, which must be known; for an old one they are computed from changes. */
  trieNodesAt(number: number): TrieNodeReader;
  /** Forgets every block after `number`. */
  rollbackTo(number: number): void;
  close(): void;
}
