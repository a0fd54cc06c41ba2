/**
 * Where trie nodes are stored. A node is named by the trie it is in, its path there and its hash, and never changes:
 * every version of the state stays readable, a new root needs no old one removed, and nodes that lie near
 * each other in the trie lie near each other on disk.
 *
 *     key = owner (empty: account trie; else keccak256 of the account's address) ‖ path ‖ start of the hash
 */
export interface TrieNodeReader {
  /**
   * RLP of a node, or undefined when it is not there. The caller may hold on to the bytes, which must not change.
   * @param owner 0 or 32 bytes
   * @param path nibbles from the root, one a byte
   * @param hash keccak256 of the RLP, 32 bytes
   */
  node(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined;
}

/** A node to be stored; views of the batch it is in. */
export type TrieNode = {
  readonly owner: Uint8Array;
  readonly path: Uint8Array;
  readonly hash: Uint8Array;
  readonly rlp: Uint8Array;
};
