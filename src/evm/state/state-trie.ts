import type { Address } from "../../base/primitives/address.ts";
import { EMPTY_BYTES, equalBytes } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../base/primitives/hash.ts";
import { keccak256OfHex } from "../../base/primitives/keccak.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../store/trie/empty-root.ts";
import { NodeBatch } from "../../store/trie/node-batch.ts";
import { ChunkedNodeCache, NODE_CACHE_BYTES_MIN, type NodeCache } from "../../store/trie/node-cache.ts";
import type { TrieNodeReader } from "../../store/trie/node-store.ts";
import { createTrie } from "../../store/trie/trie.ts";
import type { TrieChanges } from "../../store/trie/trie-update.ts";
import type { AccountChange, StateChanges, StateReader } from "./reader.ts";
import { decodeSlotValue, encodeSlotValue, encodeTrieAccount, storageRootOf } from "./trie-account.ts";

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

export type StateTrieOptions = {
  /** Memory for nodes. */
  readonly cacheBytes?: number;
  /** Caches the nodes instead of a new cache of `cacheBytes`. */
  readonly cache?: NodeCache;
};

/** The paths to some 30,000 accounts. */
const CACHE_BYTES = 40 << 20;

/**
 * The state trie over stored nodes. `nodes` has to know the nodes of an update before anything is built on its root:
 * the cache here may forget at any time.
 *
 * Its methods throw MissingTrieNodeError where the nodes of a root were pruned.
 */
export function createStateTrie(
  nodes: TrieNodeReader,
  {
    cacheBytes = CACHE_BYTES,
    cache = new ChunkedNodeCache(Math.max(cacheBytes, NODE_CACHE_BYTES_MIN)),
  }: StateTrieOptions = {},
): StateTrie {
  const accountTrie = createTrie(nodes, cache, EMPTY_BYTES);

  /** The account's storage root after `change`, on top of `root`. */
  const updateStorage = (
    { address, storage }: AccountChange,
    owner: Uint8Array,
    root: Uint8Array,
    batch: NodeBatch,
    known: KnownState | undefined,
  ): Uint8Array => {
    const values = [...storage.values()];
    const slots = [...storage.keys()];
    const changes = {
      keys: keysOf(slots),
      valueOf: (index: number) => encodeSlotValue(values[index]!),
      ...(known && { knownValue: (index: number) => knownSlot(known, address, slots[index]!) }),
    };
    return createTrie(nodes, cache, owner).update(root, changes, batch).root;
  };

  /** Notes as replaced the nodes of a storage trie that is dropped whole: `change` lists all of its slots, where it is to be stored. */
  const clearStorage = ({ storage }: AccountChange, owner: Uint8Array, root: Uint8Array, batch: NodeBatch): void => {
    if (storage.size === 0 || equalBytes(root, EMPTY_TRIE_ROOT_BYTES)) return;
    const changes = {
      keys: keysOf(storage.keys()),
      valueOf: () => undefined,
    };
    createTrie(nodes, cache, owner).update(root, changes, batch);
  };

  return {
    update(parentRoot, { accounts }, known) {
      const batch = new NodeBatch();
      const keys: Uint8Array[] = [];
      for (const { address } of accounts) keys.push(keccak256OfHex(address));
      const changes: TrieChanges = {
        keys,
        valueOf(index, old) {
          const change = accounts[index]!;
          const owner = keys[index]!;
          const oldRoot = old === undefined ? EMPTY_TRIE_ROOT_BYTES : storageRootOf(old);
          if (change.account === null || change.storageCleared) {
            clearStorage(change, owner, oldRoot, batch);
          }
          if (change.account === null) return undefined;
          const base = change.storageCleared ? EMPTY_TRIE_ROOT_BYTES : oldRoot;
          const root = change.storage.size === 0 ? base : updateStorage(change, owner, base, batch, known);
          return encodeTrieAccount(change.account, root);
        },
        ...(known && {
          knownValue: (index: number) => knownAccount(known, accounts[index]!.address),
        }),
      };
      const { root, isSame } = accountTrie.update(hashToBytes(parentRoot), changes, batch);
      return { root: hashFromBytes(root), nodes: isSame ? new NodeBatch() : batch };
    },
    prefetch(root, address, slots, known) {
      const owner = keccak256OfHex(address);
      const knownLeaf = known && knownAccount(known, address);
      const leaf = accountTrie.get(hashToBytes(root), owner, knownLeaf);
      if (leaf === undefined || slots.length === 0) return;
      const storageRoot = storageRootOf(leaf);
      const storageTrie = createTrie(nodes, cache, owner);
      for (const slot of slots) {
        const knownLeaf = known && knownSlot(known, address, slot);
        storageTrie.get(storageRoot, keccak256OfHex(slot), knownLeaf);
      }
    },
    prove(root, address, slots) {
      const rootBytes = hashToBytes(root);
      const owner = keccak256OfHex(address);
      const accountProof = accountTrie.prove(rootBytes, owner);
      const leaf = accountTrie.get(rootBytes, owner);
      if (leaf === undefined) {
        const storageProofs = slots.map((slot) => ({ slot, value: 0n, proof: [] }));
        return { accountProof, storageRoot: undefined, storageProofs };
      }
      const storageRoot = storageRootOf(leaf);
      const storageTrie = createTrie(nodes, cache, owner);
      const storageProofs = slots.map((slot) => ({
        slot,
        value: decodeSlotValue(storageTrie.get(storageRoot, keccak256OfHex(slot))),
        proof: storageTrie.prove(storageRoot, keccak256OfHex(slot)),
      }));
      return { accountProof, storageRoot: hashFromBytes(storageRoot), storageProofs };
    },
  };
}

function keysOf(slots: Iterable<Hash>): Uint8Array[] {
  const keys: Uint8Array[] = [];
  for (const slot of slots) keys.push(keccak256OfHex(slot));
  return keys;
}

/** The leaf of an account without storage, as nearly all accounts without code are. */
function knownAccount(known: KnownState, address: Address): Uint8Array | undefined {
  const account = known.account(address);
  if (account?.codeHash !== EMPTY_CODE_HASH) return undefined;
  return encodeTrieAccount(account, EMPTY_TRIE_ROOT_BYTES);
}

function knownSlot(known: KnownState, address: Address, slot: Hash): Uint8Array | undefined {
  return encodeSlotValue(known.storage(address, slot));
}
