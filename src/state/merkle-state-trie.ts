import { bigintToBytes, bytesToBigint, EMPTY_BYTES } from "../primitives/bytes.ts";
import { hashFromBytes, hashToBytes } from "../primitives/hash.ts";
import { keccak256OfHex } from "../primitives/keccak.ts";
import { decodeRlp, encodeRlp, InvalidRlpError } from "../primitives/rlp.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../trie/empty-root.ts";
import { createNodeCache } from "../trie/node-cache.ts";
import type { TrieNode, TrieNodeReader } from "../trie/node-store.ts";
import { createTrie } from "../trie/trie.ts";
import type { AccountChange } from "./reader.ts";
import type { StateTrie } from "./state-trie.ts";
import { encodeTrieAccount, storageRootOf } from "./trie-account.ts";

export type StateTrieOptions = {
  /** Nodes held in memory, a power of two. */
  readonly cachedNodesMax?: number;
};

/** About 40 MB: the paths to some 30,000 accounts. */
const CACHED_NODES_MAX = 131_072;

const CACHED_NODE_BYTES = 300;

/** `cachedNodesMax` for a cache of at most `bytes`, and at least half of them. */
export function cachedNodesIn(bytes: number): number {
  const nodes = Math.min(Math.max(bytes / CACHED_NODE_BYTES, 1_024), 2 ** 24);
  return 2 ** Math.floor(Math.log2(nodes));
}

/**
 * The state trie over stored nodes. `nodes` has to know the nodes of an update before anything is built on its root:
 * the cache here may forget at any time.
 *
 * Its methods throw MissingTrieNodeError where the nodes of a root were pruned.
 */
export function createStateTrie(
  nodes: TrieNodeReader,
  { cachedNodesMax = CACHED_NODES_MAX }: StateTrieOptions = {},
): StateTrie {
  const cache = createNodeCache(cachedNodesMax);
  const accountTrie = createTrie(nodes, cache, EMPTY_BYTES);

  /** The account's storage root after `change`; its new nodes go to `created`. */
  const updateStorage = (
    change: AccountChange,
    owner: Uint8Array,
    root: Uint8Array,
    created: TrieNode[],
  ): Uint8Array => {
    if (change.storage.size === 0) return root;
    const values = [...change.storage.values()];
    const update = createTrie(nodes, cache, owner).update(root, {
      keys: Array.from(change.storage.keys(), (slot) => keccak256OfHex(slot)),
      valueOf: (index) => encodeSlotValue(values[index]!),
    });
    for (const node of update.nodes) created.push(node);
    return update.root;
  };

  return {
    update(parentRoot, { accounts }) {
      const created: TrieNode[] = [];
      const keys = accounts.map(({ address }) => keccak256OfHex(address));
      const update = accountTrie.update(hashToBytes(parentRoot), {
        keys,
        valueOf(index, old) {
          const change = accounts[index]!;
          if (change.account === null) return undefined;
          const isFresh = old === undefined || change.storageCleared;
          const storageRoot = isFresh ? EMPTY_TRIE_ROOT_BYTES : storageRootOf(old);
          return encodeTrieAccount(
            change.account,
            updateStorage(change, keys[index]!, storageRoot, created),
          );
        },
      });
      for (const node of update.nodes) created.push(node);
      return { root: hashFromBytes(update.root), nodes: created };
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

/** undefined for 0: such slots are not in the trie. */
function encodeSlotValue(value: bigint): Uint8Array | undefined {
  return value === 0n ? undefined : encodeRlp(bigintToBytes(value));
}

function decodeSlotValue(leaf: Uint8Array | undefined): bigint {
  if (leaf === undefined) return 0n;
  const value = decodeRlp(leaf);
  if (!(value instanceof Uint8Array)) throw new InvalidRlpError("leaf is not a storage value");
  return bytesToBigint(value);
}
