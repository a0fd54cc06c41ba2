/**
 * Where trie nodes are read from: by the trie they are in, the path there, and their hash. A node never changes; what is at a path does, and
 * which versions are still there is the matter of the store.
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
