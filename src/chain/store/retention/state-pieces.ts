import { type Address, addressFromBytes } from "../../../primitives/address.ts";
import { EMPTY_BYTES, equalBytes } from "../../../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../../primitives/hash.ts";
import type { Account } from "../../../state/account.ts";
import type { StateReader } from "../../../state/reader.ts";
import { encodeTrieAccount, storageRootOf } from "../../../state/trie-account.ts";
import { encodeSlotValue } from "../../../state/trie-slot.ts";
import type { KvReader } from "../../../storage/kv.ts";
import { packNibbles } from "../../../trie/nibbles.ts";
import type { TrieNodeReader } from "../../../trie/node-store.ts";
import { addressesUnder, type Hashed, slotsUnder } from "../hashed-keys.ts";
import { trieLeaves } from "../nodes/walk-trie.ts";
import { StateLeafMismatchError } from "../store-errors.ts";

const SLOTS_MAX = 1_000;

/** An account with some of its slots. */
export type StatePiece = {
  readonly address: Address;
  readonly account: Account;
  readonly storage: ReadonlyMap<Hash, bigint>;
};

/**
 * All of a state in the order of its trie; an account with more than 1,000 slots is in several pieces. Every value is compared with its
 * leaf of the trie, so what this yields is the state of `root`.
 * @param source.nodes of `root`
 * @throws StateLeafMismatchError, MissingTrieNodeError
 */
export function* statePieces(
  {
    kv,
    nodes,
    state,
  }: {
    readonly kv: KvReader;
    readonly nodes: TrieNodeReader;
    readonly state: Pick<StateReader, "account" | "storage">;
  },
  root: Uint8Array,
): Generator<StatePiece> {
  for (const { path, value } of trieLeaves(nodes, EMPTY_BYTES, root)) {
    const hash = packNibbles(path);
    const key = preimageOf(hash, addressesUnder(kv, path));
    const address = addressFromBytes(key);
    const account = state.account(address);
    const storageRoot = storageRootOf(value);
    if (account === undefined || !equalBytes(encodeTrieAccount(account, storageRoot), value)) {
      throw new StateLeafMismatchError({ key: address });
    }
    let storage = new Map<Hash, bigint>();
    for (const leaf of trieLeaves(nodes, hash, storageRoot)) {
      const slot = hashFromBytes(
        preimageOf(packNibbles(leaf.path), slotsUnder(kv, key, leaf.path)),
      );
      const stored = state.storage(address, slot);
      const encoded = encodeSlotValue(stored);
      if (encoded === undefined || !equalBytes(encoded, leaf.value)) {
        throw new StateLeafMismatchError({ key: `${address} ${slot}` });
      }
      storage.set(slot, stored);
      if (storage.size < SLOTS_MAX) continue;
      yield { address, account, storage };
      storage = new Map();
    }
    yield { address, account, storage };
  }
}

/** @throws StateLeafMismatchError */
function preimageOf(hash: Uint8Array, candidates: Iterable<Hashed>): Uint8Array {
  for (const { key } of candidates) return key;
  throw new StateLeafMismatchError({ key: hashFromBytes(hash) });
}
