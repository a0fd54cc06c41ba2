import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { NodeBatch } from "../trie/node-batch.ts";
import type { StateChanges, StateReader } from "./reader.ts";

/** A new state root with the nodes that are not yet stored, and those it no longer has. */
export type StateTrieUpdate = {
  readonly root: Hash;
  readonly nodes: NodeBatch;
};

/** EIP-1186 proof: nodes from root to leaf, RLP each. */
export type AccountProof = {
  readonly accountProof: readonly Uint8Array[];
  /** undefined: the account does not exist and `accountProof` shows it */
  readonly storageRoot: Hash | undefined;
  readonly storageProofs: readonly {
    readonly slot: Hash;
    readonly value: bigint;
    readonly proof: readonly Uint8Array[];
  }[];
};

/** What is known of the state that an update is made on. It spares reads of leaves, and what is not so changes no result. */
export type KnownState = Pick<StateReader, "account" | "storage">;

/** The account trie with its storage tries (Yellow Paper 4.1): nodes are immutable, so any known root can be built upon. */
export interface StateTrie {
  /** The root after `changes` on top of `parentRoot`. Stores nothing: hand `nodes` to the store. */
  update(parentRoot: Hash, changes: StateChanges, known?: KnownState): StateTrieUpdate;
  /**
   * Reads the nodes that an update of these accounts and slots with the same `known` will need, where they are not in memory. Nothing
   * depends on it.
   */
  prefetch(root: Hash, address: Address, slots: readonly Hash[], known?: KnownState): void;
  prove(root: Hash, address: Address, slots: readonly Hash[]): AccountProof;
}
