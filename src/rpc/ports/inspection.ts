import type { DumpOptions, StateDump } from "../../chain/inspect/state-dump.ts";
import type { StorageRange } from "../../chain/inspect/storage-range.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { BlockSelector } from "../params/block-selector.ts";
import type { MaybePromise } from "./maybe-promise.ts";

export type DumpRequest = Omit<DumpOptions, "take">;

/** What `debug_*` reads of states and of the store, and what it changes there. Plain data only, as `ChainView`. */
export interface InspectionPort {
  /**
   * Accounts of the state after the block, in the order of their hashes; for the pending block those of the head's state.
   * @throws UnknownBlockError with geth's text, TraceTooLargeError
   */
  dumpState(
    at: BlockSelector,
    request: DumpRequest,
  ): MaybePromise<StateDump & { readonly root: Hash }>;
  /**
   * Storage of an account before transaction `txIndex` of the block; a block without transactions has an index 0.
   * @throws UnknownBlockError, NotTraceableError, TraceTooLargeError
   */
  storageRange(
    at: BlockSelector,
    txIndex: number,
    address: Address,
    start: Uint8Array,
    slotsMax: number,
  ): MaybePromise<StorageRange>;
  /** Accounts of block `last` that differ from those of `first`; both are in the chain. */
  modifiedAccounts(first: number, last: number): MaybePromise<readonly Address[]>;
}
