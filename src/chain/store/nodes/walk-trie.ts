import { EMPTY_BYTES, equalBytes } from "../../../base/primitives/bytes.ts";
import { storageRootOf } from "../../../evm/state/trie-account.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../../store/trie/empty-root.ts";
import { packNibbles } from "../../../store/trie/nibbles.ts";
import { childReference, decodeNode, HASH_LENGTH } from "../../../store/trie/node.ts";
import { MissingTrieNodeError, type TrieNodeReader } from "../../../store/trie/node-store.ts";

/** @property path nibbles of the key */
export type TrieLeaf = { readonly path: Uint8Array; readonly value: Uint8Array };

/**
 * The leaves of a trie in the order of their keys.
 * @param owner empty for the account trie, keccak256 of the address for a storage trie
 * @param onNode called for each node that has its own row, with the nibbles of its path and its RLP
 * @throws MissingTrieNodeError, InvalidRlpError
 */
export function* trieLeaves(
  nodes: TrieNodeReader,
  owner: Uint8Array,
  root: Uint8Array,
  onNode: (path: Uint8Array, rlp: Uint8Array) => void = () => {},
): Generator<TrieLeaf> {
  function* visit(reference: Uint8Array, path: Uint8Array): Generator<TrieLeaf> {
    let rlp: Uint8Array | undefined = reference;
    if (reference.length === HASH_LENGTH) {
      rlp = nodes.node(owner, path, reference);
      if (rlp === undefined) throw new MissingTrieNodeError(reference, path);
      onNode(path, rlp);
    }
    const node = decodeNode(rlp);
    if (node.kind === "leaf") yield { path: concat(path, node.path), value: node.payload };
    if (node.kind === "extension") yield* visit(node.payload, concat(path, node.path));
    if (node.kind === "branch") {
      for (let n = 0; n < 16; n++) {
        const child = childReference(node, n);
        if (child !== undefined) yield* visit(child, concat(path, Uint8Array.of(n)));
      }
    }
  }
  if (!equalBytes(root, EMPTY_TRIE_ROOT_BYTES)) yield* visit(root, EMPTY_BYTES);
}

/**
 * Visits every node of the state trie `root` and of its storage tries. Returns the number of nodes with their own rows.
 * @throws MissingTrieNodeError, InvalidRlpError
 */
export function walkStateTrie(nodes: TrieNodeReader, root: Uint8Array): number {
  let count = 0;
  const onNode = () => void count++;
  for (const { path, value } of trieLeaves(nodes, EMPTY_BYTES, root, onNode)) {
    const slots = trieLeaves(nodes, packNibbles(path), storageRootOf(value), onNode);
    while (!slots.next().done);
  }
  return count;
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
