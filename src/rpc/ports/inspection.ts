import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import type { DumpOptions, StateDump, StorageRange } from "../../chain/inspect/state-dump.ts";
import type { StateSize } from "../../chain/inspect/state-size.ts";
import type { TraceText } from "../../evm/tracing/json-writer.ts";
import type { BlockSelector } from "./block-selector.ts";
import type { TraceRequest } from "./execution.ts";

type DumpRequest = Omit<DumpOptions, "take" | "resumed">;

/** Reads and changes of states and the store for `debug_*`. Plain data only, like `ChainView`. */
export interface InspectionPort extends StateInspection, StoreInspection, BlockInspection {}

interface StateInspection {
  /**
   * Accounts of the state after the block, in the order of their hashes; the pending block uses the head's state.
   * @throws UnknownBlockError with geth's text, TraceTooLargeError, TracingTimeoutError
   */
  dumpState(input: {
    readonly at: BlockSelector;
    readonly request: DumpRequest;
  }): MaybePromise<StateDump & { readonly root: Hash }>;
  /**
   * Storage of an account before transaction `txIndex` of the block; a block without transactions has an index 0.
   * @throws UnknownBlockError, NotTraceableError, TraceTooLargeError
   */
  storageRange(input: {
    readonly at: BlockSelector;
    readonly txIndex: number;
    readonly address: Address;
    readonly start: Uint8Array;
    readonly slotsMax: number;
  }): MaybePromise<StorageRange>;
  /**
   * Size of the state after the block; for the pending block that of the head's.
   * @throws UnknownBlockError with geth's text, StatePrunedError, TracingTimeoutError
   */
  stateSize(input: {
    readonly at: BlockSelector;
  }): MaybePromise<StateSize & { readonly number: number; readonly root: Hash }>;
  /** The address or slot whose keccak256 is or was a key in the state's tries; undefined: none. @throws TracingTimeoutError */
  preimage(input: { readonly hash: Hash }): MaybePromise<Uint8Array | undefined>;
  /**
   * Accounts of the state after the block that are not the same after block `first`, an older one of the chain.
   * @throws UnknownBlockError with geth's text, TraceTooLargeError, TracingTimeoutError
   */
  modifiedAccounts(input: { readonly first: number; readonly at: BlockSelector }): MaybePromise<readonly Address[]>;
}

export interface StoreInspection {
  /** Text for people. */
  storeStats(): MaybePromise<string>;
  /** Writes everything that waits in memory to the index. */
  compactStore(): Promise<void>;
  /** Value of a row of the index; undefined: no such row */
  row(input: { readonly key: Uint8Array }): MaybePromise<Uint8Array | undefined>;
  /**
   * Removes every block after `number` and builds on that one from then on. Subscribers receive the removed logs; transactions of removed
   * blocks are not pooled again, as in geth.
   * @throws DebugError with geth's text for the head and later blocks
   */
  rewind(input: { readonly number: number }): Promise<void>;
}

export interface BlockInspection {
  /** Rejected blocks with their senders, the highest first; receipts are empty. */
  badBlocks(): MaybePromise<readonly ExecutedBlock[]>;
  /** @throws NotTraceableError with geth's text */
  traceBadBlock(input: { readonly hash: Hash; readonly request: TraceRequest }): MaybePromise<TraceText>;
  /** Traces a block whose RLP is in a file. @throws FileNameError, AdminError, and as `ExecutionPort.traceRawBlock` */
  traceBlockFile(input: { readonly file: string; readonly request: TraceRequest }): MaybePromise<TraceText>;
  /**
   * State root after each transaction of a block of the chain or of a rejected one; as far as they can be executed.
   * @throws NotTraceableError with geth's text
   */
  intermediateRoots(input: { readonly hash: Hash }): MaybePromise<readonly Hash[]>;
  /**
   * Writes the standard trace (EIP-3155) of each transaction, or of one, to a separate file. Returns the paths.
   * @throws NotTraceableError with geth's text
   */
  writeStandardTraces(input: {
    readonly hash: Hash;
    readonly which: "chain" | "bad";
    readonly request: TraceRequest & { readonly txHash?: Hash };
  }): MaybePromise<readonly string[]>;
}
