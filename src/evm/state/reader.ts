import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Account } from "./account.ts";

/** The world state after some block, read only and synchronous. */
export interface StateReader {
  /** undefined: no such account */
  account(address: Address): Account | undefined;
  /** Value of a slot; 0n where nothing was stored. */
  storage(address: Address, slot: Hash): bigint;
  /** Code by its hash; empty for the empty hash. Throws InvariantError when the hash is unknown. */
  code(codeHash: Hash): Uint8Array;
  /** Every slot of `address` that is not 0, in any order. Costs a scan: for self-destruct and dumps only. */
  storageEntries(address: Address): Iterable<readonly [slot: Hash, value: bigint]>;
}

/** What became of one account in a block. */
export type AccountChange = {
  readonly address: Address;
  /** null: the account is gone. Its slots are then in `storage`, each with value 0. */
  readonly account: Account | null;
  /**
   * Slots whose value differs from before, with the new value; 0n deletes. With `storageCleared` also
   * those written again with the value they had: everything the account's storage holds now is here.
   */
  readonly storage: ReadonlyMap<Hash, bigint>;
  /** The account was deleted in this block, also when it exists again: its storage trie starts empty. */
  readonly storageCleared: boolean;
};

/** The difference between the states before and after a block. */
export type StateChanges = {
  readonly accounts: readonly AccountChange[];
  /** Code that was deployed, by hash; may hold code known before. */
  readonly codes: ReadonlyMap<Hash, Uint8Array>;
};
