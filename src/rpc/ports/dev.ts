import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { MineRequest } from "../../dev/dev-chain.ts";
import type { DevSettings, NextBlock } from "../../dev/dev-settings.ts";
import type { AccountEdit } from "../../dev/dev-state.ts";
import type { LoadedState, StateDump } from "../../dev/state-dump.ts";

/** A block of another chain to continue. */
export type Forking = {
  /** undefined: the nodes that are asked now */
  readonly url?: string | undefined;
  /** undefined: the newest block */
  readonly blockNumber?: number | undefined;
};

/** Bends a dev chain. Plain data only. Every method throws DevControlError on any other chain. */
export interface DevPort {
  settings(): MaybePromise<DevSettings>;
  configure(changes: DevSettings): MaybePromise<void>;
  setChainId(input: { readonly chainId: bigint }): MaybePromise<void>;
  /** @throws DevControlError for a time before the head's */
  setNextBlock(next: Omit<NextBlock, "number">): MaybePromise<void>;
  /** Seconds that the chain's clock is ahead of the system's. */
  increaseTime(input: { readonly seconds: number }): MaybePromise<number>;
  /** Seconds by which the clock was moved. */
  setTime(input: { readonly timestamp: number }): MaybePromise<number>;
  /**
   * Adds the accounts of a dump to the newest state; where it has blocks, they replace those of the chain, unless that forks another one.
   * @throws DevControlError
   */
  loadState(input: { readonly state: LoadedState }): Promise<void>;
  edit(input: { readonly edits: readonly AccountEdit[] }): MaybePromise<void>;
  /** Hashes of the new blocks. */
  mine(request: MineRequest): Promise<readonly Hash[]>;
  /** @returns the number of the snapshot */
  snapshot(): MaybePromise<number>;
  /** Snapshots to which the chain can be reverted, each with its block. */
  snapshots(): MaybePromise<readonly { readonly id: number; readonly number: number; readonly hash: Hash }[]>;
  /** @returns false if the snapshot does not exist */
  revert(input: { readonly id: number }): Promise<boolean>;
  /** @throws DevControlError where there are not so many blocks */
  rollback(input: { readonly depth: number }): Promise<void>;
  reorg(input: {
    readonly depth: number;
    readonly transactions: readonly { readonly raw: Uint8Array; readonly block: number }[];
  }): Promise<void>;
  /**
   * Begins anew, at the first block of this chain or at a block of another chain.
   * @param forking undefined: without a fork
   * @throws DevControlError if no node of the other chain is known, ForkRemoteError if it does not answer
   */
  reset(input: { readonly forking?: Forking | undefined }): Promise<void>;
  /**
   * Asks another node of the forked chain from now on.
   * @throws DevControlError where nothing is forked or the node has another chain, ForkRemoteError when it does not answer
   */
  setForkUrl(input: { readonly url: string }): Promise<void>;
  impersonate(input: { readonly address: Address; readonly isOn: boolean }): MaybePromise<void>;
  /** Submits a transaction that carries `impersonatingSignature`, for any sender. */
  submitUnsigned(input: { readonly raw: Uint8Array }): MaybePromise<Hash>;
  /** @returns false when it is not pooled */
  drop(input: { readonly hash: Hash }): MaybePromise<boolean>;
  /** Drops all pooled transactions, or only one account's. */
  dropAll(input: { readonly sender?: Address | undefined }): MaybePromise<void>;
  dumpState(): MaybePromise<StateDump>;
}
