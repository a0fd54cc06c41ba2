import type { Address } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";
import type { MaybePromise } from "../base/threads/maybe-promise.ts";
import type { SharedSlices } from "../base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../base/types/block.ts";
import type { Header } from "../base/types/header.ts";
import type { Receipt } from "../base/types/receipt.ts";
import type { Transaction } from "../base/types/transaction/transaction.ts";
import type { StateChanges, StateReader } from "../evm/state/reader.ts";
import type { NodeBatch } from "../store/trie/node-batch.ts";
import type { TrieNodeReader } from "../store/trie/node-store.ts";

/** What a transaction of a block paid for its gas: units, and wei for each. */
export type GasPayment = { readonly sender: Address } & Pick<Receipt, "gasUsed" | "effectiveGasPrice">;

/** A transaction of a block with its receipt. */
export type RecordItem = {
  readonly transaction: Transaction;
  readonly sender: Address;
  readonly receipt: Receipt;
  /** index in the block of its first log */
  readonly firstLogIndex: number;
};

/** A block with its result: what `append` writes to the block log. */
export type BlockRecord = ExecutedBlock & {
  readonly changes: StateChanges;
  /** What the consensus engine stores with the block; opaque here, empty for genesis and imported blocks. */
  readonly consensusData: Uint8Array;
  /** RLP of the block access list, of every block from Amsterdam on that was executed here. */
  readonly accessList?: Uint8Array | undefined;
};

/** A transaction of a block, its receipt, and what an answer about either says of the block. */
export type IncludedTransaction = RecordItem & {
  readonly index: number;
  readonly blockHash: Hash;
  readonly blockNumber: number;
};

/** Block 0 before the root of its state is known. */
export type GenesisState = {
  /**
   * Its accounts as `encodeChanges` writes them. They are encoded on demand: those of a large state take most of the memory of a first start.
   */
  state(): Uint8Array;
  blockOf(stateRoot: Hash): Omit<BlockRecord, "changes">;
};

/**
 * The blocks of one chain from a base to the head with every state between: the block log and its
 * index. Every method that takes a block number throws BlockPrunedError below the base.
 */
export interface BlockStore {
  /** Number of the first block, 0 unless the log begins later; undefined while the store is empty. */
  base(): number | undefined;
  /** Number of the oldest block whose state can be read; not below `base`. */
  stateBase(): number;
  /** Number of the oldest block whose state can be proven; not below `stateBase`. */
  proofBase(): number;
  /** Number of the newest block; undefined while the store is empty. */
  head(): number | undefined;
  /**
   * Adds the block after head; to an empty store the base, whose changes are all of its state.
   * Returns when the block is on disk to stay.
   * @param nodes trie nodes of its state root
   */
  append(record: BlockRecord, nodes: NodeBatch): void;
  /** Blocks that `work` appends are published once all are there. */
  appendTogether(work: () => void): void;
  /**
   * Adds block 0, which makes all of its state, to an empty store. After an exception the store is poisoned.
   */
  appendGenesis(genesis: GenesisState): void;
  block(number: number): ExecutedBlock | undefined;
  /** The same, decoded in slices where it is large. A rollback meanwhile does not change what was requested. */
  blockInSlices(number: number, slices: SharedSlices): MaybePromise<ExecutedBlock | undefined>;
  /** Only the header, without decoding the block; likewise its hash. */
  header(number: number): Header | undefined;
  blockHash(number: number): Hash | undefined;
  /** One transaction and its receipt, without decoding the others. */
  transactionAt(number: number, index: number): IncludedTransaction | undefined;
  /** How many transactions a block has, without decoding it. */
  transactionCount(number: number): number | undefined;
  /** What each transaction of a block paid for its gas, without decoding the block. */
  gasPayments(number: number): readonly GasPayment[] | undefined;
  /** RLP of the block access list, without decoding the block; undefined where none is stored. */
  accessList(number: number): Uint8Array | undefined;
  numberOf(blockHash: Hash): number | undefined;
  /** A block after which the state has this root. */
  numberOfState(stateRoot: Hash): number | undefined;
  transactionPosition(hash: Hash): { readonly number: number; readonly index: number } | undefined;
  /** The state after block `number`, which must be known. @throws StatePrunedError, and so do its reads */
  stateAt(number: number): StateReader;
  /** What block `number` changed. */
  changes(number: number): StateChanges;
  /** `consensusData` of block `number`, which must be known. */
  consensusDataOf(number: number): Uint8Array;
  /** Nodes of the newest state, to build the next one on. */
  readonly trieNodes: TrieNodeReader;
  /** Nodes of the state after block `number`, which must be known; for an old one they are computed from changes. @throws StatePrunedError */
  trieNodesAt(number: number): TrieNodeReader;
  /** Forgets every block after `number`. @throws BlockPrunedError; StatePrunedError before the oldest state that can be proven */
  rollbackTo(number: number): void;
  close(): void;
}

/** What of a store can be read by a thread that does not write it. */
export type ReadableBlockStore = Omit<
  BlockStore,
  "append" | "appendTogether" | "appendGenesis" | "rollbackTo" | "changes" | "consensusDataOf"
>;

/** What each transaction of a decoded block paid for its gas. */
export function gasPaymentsOf({ senders, receipts }: Pick<ExecutedBlock, "senders" | "receipts">): GasPayment[] {
  return receipts.map(({ gasUsed, effectiveGasPrice }, i) => ({ sender: senders[i]!, gasUsed, effectiveGasPrice }));
}

/** Transaction `index` of a decoded block; undefined when it has no such transaction. */
export function includedTransaction(
  { block, senders, receipts }: ExecutedBlock,
  index: number,
): IncludedTransaction | undefined {
  const transaction = block.transactions[index];
  if (transaction === undefined) return undefined;
  let firstLogIndex = 0;
  for (let before = 0; before < index; before++) firstLogIndex += receipts[before]!.logs.length;
  return {
    transaction,
    sender: senders[index]!,
    receipt: receipts[index]!,
    firstLogIndex,
    index,
    blockHash: block.hash,
    blockNumber: block.header.number,
  };
}
