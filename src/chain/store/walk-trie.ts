import { EMPTY_BYTES, equalBytes } from "../../primitives/bytes.ts";
import { storageRootOf } from "../../state/trie-account.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../trie/empty-root.ts";
import { packNibbles } from "../../trie/nibbles.ts";
import { childReference, decodeNode, HASH_LENGTH } from "../../trie/node.ts";
import { MissingTrieNodeError } from "../../trie/node-source.ts";
import type { TrieNodeReader } from "../../trie/node-store.ts";

/**
 * Visits every node of the state trie `root` and of its storage tries; how many have a row of their own.
 * @throws MissingTrieNodeError, InvalidRlpError
 */
export function walkStateTrie(nodes: TrieNodeReader, root: Uint8Array): number {
  let count = 0;
  const walk = (owner: Uint8Array, trieRoot: Uint8Array, onLeaf: OnLeaf): void => {
    if (equalBytes(trieRoot, EMPTY_TRIE_ROOT_BYTES)) return;
    const visit = (reference: Uint8Array, path: Uint8Array): void => {
      let rlp: Uint8Array | undefined = reference;
      if (reference.length === HASH_LENGTH) {
        rlp = nodes.node(owner, path, reference);
        if (rlp === undefined) throw new MissingTrieNodeError(reference, path);
        count++;
      }
      const node = decodeNode(rlp);
      if (node.kind === "leaf") onLeaf(concat(path, node.path), node.payload);
      if (node.kind === "extension") visit(node.payload, concat(path, node.path));
      if (node.kind === "branch") {
        for (let n = 0; n < 16; n++) {
          const child = childReference(node, n);
          if (child !== undefined) visit(child, concat(path, Uint8Array.of(n)));
        }
      }
    };
    visit(trieRoot, EMPTY_BYTES);
  };
  walk(EMPTY_BYTES, root, (path, leaf) => {
    walk(packNibbles(path), storageRootOf(leaf), () => {});
  });
  return count;
}

type OnLeaf = (path: Uint8Array, value: Uint8Array) => void;

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
