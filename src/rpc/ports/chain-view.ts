import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { CancelToken } from "../../base/threads/cancel-token.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import type { Header } from "../../base/types/header.ts";
import type { Receipt } from "../../base/types/receipt.ts";
import type { Transaction } from "../../base/types/transaction/transaction.ts";
import type { AccountPage, AddressQuery } from "../../chain/addresses/address-index.ts";
import type { FeeHistory } from "../../chain/fees/fee-history.ts";
import type { LogFilterOptions } from "../../chain/logs/log-filter.ts";
import type { OldestBlocks } from "../../chain/reader.ts";
import type { PoolContent, PooledTransaction } from "../../consensus/mempool/pool.ts";
import type { ContextHeader } from "../../evm/execution/block-context.ts";
import type { Account } from "../../evm/state/account.ts";
import type { AccountProof } from "../../evm/state/state-trie.ts";
import type { JsonText } from "../transport/codec.ts";
import type { BlockNumberOrTag, BlockSelector } from "./block-selector.ts";

/**
 * The chain and its pool as JSON-RPC sees them: head, reads at a block, pool, fees, submit, subscribe.
 *
 * Every argument and every result is plain data that a structured clone preserves, and every read names its block by a selector, so
 * that a chain in another thread or process can answer. In the chain's own thread the answer is there at once (ADR 11).
 */
export interface ChainView
  extends ChainConstants,
    BlockReads,
    StateReads,
    LogReads,
    AddressReads,
    PoolReads,
    FeeReads,
    ChainEvents {
  /**
   * Adds a transaction to the pool; its hash once it is accepted.
   * @param input.transaction in network form
   * @param input.sender that its signature names, where it was recovered
   * @throws the decoder's, the pool's and the submission rules' rejections
   */
  submit(input: { readonly transaction: Uint8Array; readonly sender?: Address }): MaybePromise<Hash>;
  /** @throws PendingUnavailableError where no valid block can follow */
  nextBlock(): MaybePromise<NextBlock>;
}

/** The block that would come next, for those who prepare a transaction. */
export type NextBlock = {
  /** What the transaction would be executed on, and in. */
  readonly target: { readonly at: BlockSelector; readonly inBlock?: ContextHeader; readonly keepsFees?: boolean };
  /** In wei; undefined before London. */
  readonly baseFeePerGas: bigint | undefined;
};

/** What never changes while the node runs. */
export interface ChainConstants {
  readonly config: ChainConfig;
  readonly genesisHash: Hash;
  /** Unix seconds of block 0, which may be pruned. */
  readonly genesisTime: number;
  /** Callers set blocks, fees and state by hand: a dev chain. */
  readonly isControlled: boolean;
}

/** A header with its hash, keccak256 of its RLP. */
export type SealedHeader = { readonly hash: Hash; readonly header: Header };

/** Where a transaction is in the chain. */
export type TransactionPosition = {
  readonly blockHash: Hash;
  readonly blockNumber: number;
  /** Unix seconds */
  readonly blockTimestamp: number;
  /** in the block */
  readonly index: number;
  /** of the block, in wei; undefined before London */
  readonly baseFeePerGas: bigint | undefined;
};

export type MinedTransaction = {
  readonly tx: Transaction;
  readonly sender: Address;
  readonly position: TransactionPosition;
};

/** A receipt with what its JSON takes from transaction and block. */
export type MinedReceipt = {
  readonly receipt: Receipt;
  readonly transactionHash: Hash;
  readonly from: Address;
  readonly to: Address | null;
  readonly position: TransactionPosition;
  /** in the block, of the receipt's first log */
  readonly firstLogIndex: number;
};

/**
 * Blocks, transactions and receipts; undefined if none. A selector may throw BlockNotCanonicalError or PendingUnavailableError.
 */
export interface BlockReads {
  head(): MaybePromise<SealedHeader>;
  /** Older blocks and states are pruned. */
  oldest(): MaybePromise<OldestBlocks>;
  header(input: { readonly at: BlockSelector }): MaybePromise<SealedHeader | undefined>;
  block(input: { readonly at: BlockSelector }): MaybePromise<ExecutedBlock | undefined>;
  transactionCount(input: { readonly at: BlockSelector }): MaybePromise<number | undefined>;
  /** RLP of the block access list; null: the block is older than Amsterdam. @throws BlockPrunedError where it was never here */
  accessList(input: { readonly at: BlockSelector }): MaybePromise<Uint8Array | null | undefined>;
  /** Hashes of the canonical chain from block `first` to the head, at most `countMax`; empty when `first` is after the head. */
  blockHashes(input: { readonly first: number; readonly countMax: number }): MaybePromise<readonly Hash[]>;
  transaction(input: { readonly hash: Hash }): MaybePromise<MinedTransaction | undefined>;
  transactionAt(input: {
    readonly at: BlockSelector;
    readonly index: number;
  }): MaybePromise<MinedTransaction | undefined>;
  /** The transaction of `sender` with this nonce; `isUsed` is also true for a nonce that no transaction used (EIP-7702). */
  transactionBySender(input: {
    readonly sender: Address;
    readonly nonce: bigint;
  }): MaybePromise<{ readonly isUsed: boolean; readonly mined?: MinedTransaction }>;
  receipt(input: { readonly hash: Hash }): MaybePromise<MinedReceipt | undefined>;
}

/** The state after a block. Each throws UnknownBlockError, BlockNotCanonicalError or PendingUnavailableError for the selector. */
export interface StateReads {
  /** undefined: no such account */
  account(input: { readonly address: Address; readonly at: BlockSelector }): MaybePromise<Account | undefined>;
  /** Empty if there is no account or no code. */
  code(input: { readonly address: Address; readonly at: BlockSelector }): MaybePromise<Uint8Array>;
  /** Account and code of one and the same state. */
  accountWithCode(input: {
    readonly address: Address;
    readonly at: BlockSelector;
  }): MaybePromise<{ readonly account: Account | undefined; readonly code: Uint8Array }>;
  /** 0n where nothing was stored */
  storage(input: { readonly address: Address; readonly slot: Hash; readonly at: BlockSelector }): MaybePromise<bigint>;
  /** One list per account, in the order asked. */
  storageValues(input: {
    readonly slots: readonly (readonly [Address, readonly Hash[]])[];
    readonly at: BlockSelector;
  }): MaybePromise<readonly (readonly bigint[])[]>;
  /** EIP-1186 proof against the block's state root. @throws PendingProofError for the pending block, whose trie is not stored */
  proof(input: {
    readonly address: Address;
    readonly slots: readonly Hash[];
    readonly at: BlockSelector;
  }): MaybePromise<{ readonly account: Account | undefined; readonly proof: AccountProof }>;
}

/** Criteria of logs and a range of blocks; blocks after the head are skipped. */
type LogQuery = {
  readonly terms: LogFilterOptions;
  readonly from: number;
  readonly to: number;
};

/** Where a search ends before its range does. */
export type LogLimits = {
  readonly resultsMax: number;
  /** of JSON */
  readonly bytesMax: number;
  /** Rows of the index and blocks looked at, each counted as one; a block with many logs as more. */
  readonly workMax: number;
};

export type FoundLogs = {
  /** a list of log objects */
  readonly json: JsonText;
  readonly count: number;
  /** First block that was not searched; after the range when all of it was. */
  readonly end: number;
  /** Why the search ended before the range did. */
  readonly limit: "results" | "bytes" | "work" | undefined;
};

interface LogReads {
  /**
   * The logs of the canonical chain that match, in order. It ends early, between two blocks, where a limit is passed; the first block
   * is always searched whole, so that a caller can go on from `end`.
   * @throws RequestTimeoutError once `cancel` is aborted
   */
  logs(input: {
    readonly query: LogQuery;
    readonly limits: LogLimits;
    readonly cancel?: CancelToken | undefined;
  }): MaybePromise<FoundLogs>;
}

interface AddressReads {
  /** Blocks with transactions that have to do with an address. @throws AddressIndexOffError, AddressIndexBuildingError */
  addressPage(query: AddressQuery): MaybePromise<AccountPage>;
}

interface PoolReads {
  pooled(input: { readonly hash: Hash }): MaybePromise<PooledTransaction | undefined>;
  /** The nonce after the last pending transaction of `address`. */
  nextNonce(input: { readonly address: Address }): MaybePromise<bigint>;
  poolContent(): MaybePromise<PoolContent>;
  poolContentFrom(input: { readonly address: Address }): MaybePromise<{
    readonly pending: readonly PooledTransaction[];
    readonly queued: readonly PooledTransaction[];
  }>;
  poolCounts(): MaybePromise<{ readonly pending: number; readonly queued: number }>;
}

/** Fees in wei. */
export interface FeeReads {
  /** A tip with which a transaction is likely to be mined soon. */
  suggestTip(): MaybePromise<bigint>;
  /** `eth_feeHistory`. @throws InvalidFeeHistoryRequestError */
  feeHistory(input: {
    readonly blockCount: number;
    readonly at: BlockNumberOrTag;
    readonly percentiles: readonly number[];
  }): MaybePromise<FeeHistory>;
}

/** A transaction that became executable. */
export type PendingTransaction = Pick<PooledTransaction, "tx" | "sender">;

/** Whatever an event names can be read when the listener is called. */
export type ChainListener = {
  /** A block became the head. */
  readonly onBlock?: (executed: ExecutedBlock) => void;
  /** Blocks, ascending, are no longer part of the chain. */
  readonly onRemoved?: (removed: readonly ExecutedBlock[]) => void;
  readonly onPending?: (transactions: readonly PendingTransaction[]) => void;
};

export interface ChainEvents {
  /** Calls `listener` until the returned function is called. Only events it has a function for are sent. */
  subscribe(listener: ChainListener): () => void;
}
