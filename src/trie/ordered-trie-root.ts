import { bigintToBytes } from "../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../primitives/hash.ts";
import { encodeRlp } from "../primitives/rlp.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { updateTrie } from "./trie-update.ts";

/**
 * Root of the trie that maps RLP(index) to `values[index]`: transactionsRoot, receiptsRoot, withdrawalsRoot
 * (Yellow Paper 4.3.2, EIP-4895). None of the values is empty; no node is stored.
 */
export function orderedTrieRoot(values: readonly Uint8Array[]): Hash {
  const keys = values.map((_, index) => encodeRlp(bigintToBytes(BigInt(index))));
  const changes = { keys, valueOf: (index: number) => values[index] };
  return hashFromBytes(updateTrie(undefined, EMPTY_TRIE_ROOT_BYTES, changes, () => {}));
}
