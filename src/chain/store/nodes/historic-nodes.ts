import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { encodeSlotValue, encodeTrieAccount } from "../../../evm/state/trie-account.ts";
import type { KvReader } from "../../../store/storage/kv.ts";
import type { VersionedTable } from "../../../store/storage/versioned-table.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../../store/trie/empty-root.ts";
import { updateTrie } from "../../../store/trie/in-place-update.ts";
import { NodeBatch } from "../../../store/trie/node-batch.ts";
import type { TrieNodeReader } from "../../../store/trie/node-store.ts";
import { decodeAccount } from "../../records/changes-record.ts";
import { addressesUnder, addressWithHash, slotsUnder } from "../state/hashed-keys.ts";
import type { NodeHistory } from "./node-history.ts";

/** Nodes made again stay in memory up to so many: those of some twenty subtries of a state of a million accounts. */
const NODES_MAX = 10_000;
const ZERO_VALUE = Uint8Array.of(1);

/** The parts of the index from which the nodes of an old state are computed. */
type HistorySource = {
  readonly accounts: Pick<VersionedTable, "at">;
  readonly slots: Pick<VersionedTable, "at">;
  readonly nodeHistory: Pick<NodeHistory, "find" | "storageRootAt">;
};

/**
 * The trie nodes of the state after block `number`, which is at or before the last checkpoint. Those near the roots are versions in the
 * index. A node further down is made again with its whole subtrie from the accounts, or the slots, that had a value then. Each node
 * is found by its hash, so what is made wrong is missing and never served.
 */
export class HistoricNodes implements TrieNodeReader {
  readonly #kv: KvReader;
  readonly #index: HistorySource;
  readonly #number: number;
  readonly #made = new Map<string, Uint8Array>();

  constructor(kv: KvReader, index: HistorySource, number: number) {
    this.#kv = kv;
    this.#index = index;
    this.#number = number;
  }

  node(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    const name = bytesToHex(hash);
    const known = this.#made.get(name) ?? this.#index.nodeHistory.find(owner, path, hash, this.#number);
    if (known !== undefined) return known;
    if (this.#made.size > NODES_MAX) this.#made.clear();
    this.#makeSubtrie(owner, path);
    return this.#made.get(name);
  }

  /** Makes the nodes at `path` and below. */
  #makeSubtrie(owner: Uint8Array, path: Uint8Array): void {
    const keys: Uint8Array[] = [];
    const values: Uint8Array[] = [];
    const leaves = owner.length === 0 ? this.#accountsUnder(path) : this.#slotsUnder(owner, path);
    for (const { hash, value } of leaves) {
      keys.push(hash);
      values.push(value);
    }
    if (keys.length === 0) return;
    if (path.length > 0) {
      // A neighbour that differs in the last nibble of the path: what is under the path then begins where it does in the whole trie.
      const neighbour = keys[0]!.slice();
      const last = path.length - 1;
      neighbour[last >> 1] = neighbour[last >> 1]! ^ (last % 2 === 0 ? 0x10 : 0x01);
      keys.push(neighbour);
      values.push(ZERO_VALUE);
    }
    const batch = new NodeBatch();
    updateTrie(EMPTY_TRIE_ROOT_BYTES, {
      source: undefined,
      changes: { keys, valueOf: (index) => values[index] },
      sink: {
        add: (place, depth, rlp, length) => batch.add(owner, place, depth, rlp, length),
        addHashed: (bytes, start, depth, length) => batch.addHashed(owner, bytes, start, depth, length),
        replace() {},
      },
    });
    for (const { hash, rlp } of batch) this.#made.set(bytesToHex(hash), rlp);
  }

  *#accountsUnder(path: Uint8Array): Generator<Leaf> {
    const { accounts, nodeHistory } = this.#index;
    for (const { hash, key: address } of addressesUnder(this.#kv, path)) {
      const value = accounts.at(address, this.#number);
      if (value === undefined) continue;
      const storageRoot = nodeHistory.storageRootAt(hash, this.#number);
      yield { hash, value: encodeTrieAccount(decodeAccount(value), storageRoot) };
    }
  }

  *#slotsUnder(owner: Uint8Array, path: Uint8Array): Generator<Leaf> {
    const { slots } = this.#index;
    const address = addressWithHash(this.#kv, owner);
    if (address === undefined) return;
    for (const { hash, key: slot } of slotsUnder(this.#kv, address, path)) {
      const value = slots.at(Buffer.concat([address, slot]), this.#number);
      const leaf = value && encodeSlotValue(bytesToBigint(value));
      if (leaf !== undefined) yield { hash, value: leaf };
    }
  }
}

type Leaf = { readonly hash: Uint8Array; readonly value: Uint8Array };
