import { setImmediate } from "node:timers/promises";
import { EMPTY_BYTES, equalBytes } from "../../base/primitives/bytes.ts";
import { hashToBytes } from "../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import { storageRootOf } from "../../evm/state/trie-account.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../store/trie/empty-root.ts";
import { packNibbles } from "../../store/trie/nibbles.ts";
import type { TrieNodeReader } from "../../store/trie/node-store.ts";
import { trieLeaves } from "../store/nodes/walk-trie.ts";

/** The number of items of one kind, and the bytes of their keys and values in geth's database. */
export type SizeOfKind = { count: number; bytes: number };

export type StateSize = Readonly<Record<"accounts" | "slots" | "accountNodes" | "storageNodes" | "codes", SizeOfKind>>;

export type StateSizeSource = {
  readonly nodes: TrieNodeReader;
  /** of the account trie */
  readonly root: Uint8Array;
  /** Lengths of all codes that were ever deployed. */
  readonly codeLengths: Iterable<number>;
};

/** Bytes of geth's keys: one for the table, then 32 for each hash. A node's path takes one more for each nibble. */
const KEY_BYTES = { accounts: 33, slots: 65, accountNodes: 1, storageNodes: 33, codes: 33 };
/** Values counted before other work gets its turn: some 5 ms. */
const SLICE = 1_000;
const HASH_LENGTH = 32;
/** What `f8` and the length before an account in a leaf take. */
const LIST_PREFIX = 2;
const SHORT_LIST_MAX = 55;
const EMPTY_CODE_HASH_BYTES = hashToBytes(EMPTY_CODE_HASH);

/**
 * Counts a state by walking its tries.
 * @param resumed called after each pause; throws if it takes too long, or the state is no longer stored
 * @throws MissingTrieNodeError where the nodes of this state are removed meanwhile
 */
export async function measureState(
  { nodes, root, codeLengths }: StateSizeSource,
  resumed: () => void,
): Promise<StateSize> {
  const kind = (): SizeOfKind => ({ count: 0, bytes: 0 });
  const size = {
    accounts: kind(),
    slots: kind(),
    codes: kind(),
    accountNodes: kind(),
    storageNodes: kind(),
  };
  let steps = 0;
  const add = (name: keyof StateSize, bytes: number) => {
    steps++;
    size[name].count++;
    size[name].bytes += KEY_BYTES[name] + bytes;
  };
  const addNode = (name: "accountNodes" | "storageNodes") => (path: Uint8Array, rlp: Uint8Array) =>
    add(name, path.length + rlp.length);
  const pause = async () => {
    if (steps < SLICE) return;
    steps = 0;
    await setImmediate();
    resumed();
  };

  resumed();
  for (const { path, value } of trieLeaves(nodes, EMPTY_BYTES, root, addNode("accountNodes"))) {
    add("accounts", slimLength(value));
    const owner = packNibbles(path);
    for (const slot of trieLeaves(nodes, owner, storageRootOf(value), addNode("storageNodes"))) {
      add("slots", slot.value.length);
      await pause();
    }
    await pause();
  }
  for (const length of codeLengths) {
    add("codes", length);
    await pause();
  }
  return size;
}

/** Length of an account in geth's flat state: as in a leaf, but an empty storage root and the hash of no code take no bytes. */
function slimLength(leaf: Uint8Array): number {
  let content = leaf.length - LIST_PREFIX;
  if (equalBytes(storageRootOf(leaf), EMPTY_TRIE_ROOT_BYTES)) content -= HASH_LENGTH;
  if (equalBytes(leaf.subarray(-HASH_LENGTH), EMPTY_CODE_HASH_BYTES)) content -= HASH_LENGTH;
  return content + (content > SHORT_LIST_MAX ? LIST_PREFIX : 1);
}
