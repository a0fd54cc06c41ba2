import type { ChainConfig } from "../params/chain-config.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { StateChanges, StateReader } from "../state/reader.ts";
import type { AccountProof } from "../state/state-trie.ts";
import type { ExecutedBlock } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import type { IncludedTransaction } from "./store/block-store.ts";

/**
 * The canonical chain, for reading. Every block is final, so `safe` and `finalized` are the head. Blocks older than the oldest one are
 * answered with BlockPrunedError, older states with StatePrunedError.
 */
export interface ChainReader {
  readonly config: ChainConfig;
  readonly genesisHash: Hash;
  head(): ExecutedBlock;
  oldest(): OldestBlocks;
  block(at: number | Hash): ExecutedBlock | undefined;
  /** The header of a block without the rest of it, and its hash alone: some microseconds each. */
  header(number: number): Header | undefined;
  blockHash(number: number): Hash | undefined;
  /** One transaction of a block with its receipt, without decoding the others. */
  transactionAt(number: number, index: number): IncludedTransaction | undefined;
  /** Number of the block with this hash. */
  numberOf(blockHash: Hash): number | undefined;
  /** An included transaction with its receipt; likewise its block and its index there alone. */
  transaction(hash: Hash): IncludedTransaction | undefined;
  transactionPosition(hash: Hash): { readonly number: number; readonly index: number } | undefined;
  /** The state after the block; `number` is at most the head's. */
  stateAt(number: number): StateReader;
  /** What was set by hand after the block, on a dev chain: `stateAt` has it, the header's state root has not. */
  patchAt(number: number): StateChanges | undefined;
  /** EIP-1186 proof against the state root of block `number`. */
  proof(address: Address, slots: readonly Hash[], number: number): AccountProof;
  /**
   * A block really built on the head from the pool, and the state after it. Cached until head or pool change.
   * undefined when no valid block can be built, say because a system contract is missing.
   */
  pending(): PendingBlock | undefined;
}

/** Numbers of the oldest block, of the oldest whose state can be read, and of the oldest whose state can be proven. */
export type OldestBlocks = {
  readonly block: number;
  readonly state: number;
  readonly proof: number;
};

export type PendingBlock = {
  readonly executed: ExecutedBlock;
  readonly state: StateReader;
  /** What lies between the head's state and this one. */
  readonly changes: StateChanges;
};

/** Published once a block is on disk and readable: the only source of events. */
export type BlockCommitted = { readonly executed: ExecutedBlock; readonly changes: StateChanges };
