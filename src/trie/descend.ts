import { equalBytes } from "../primitives/bytes.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { nibblesOf } from "./nibbles.ts";
import { branchValue, childReference, decodeNode, HASH_LENGTH } from "./node.ts";

/** RLP of the node that has `hash`, at the first `depth` nibbles of `path`. */
export type ResolveNode = (hash: Uint8Array, path: Uint8Array, depth: number) => Uint8Array;

/** The value of `key` under `root`, a view; undefined when it has none. Asks for each node with a hash on the way. */
export function descend(
  root: Uint8Array,
  key: Uint8Array,
  resolve: ResolveNode,
): Uint8Array | undefined {
  if (equalBytes(root, EMPTY_TRIE_ROOT_BYTES)) return undefined;
  const path = nibblesOf(key);
  let reference = root;
  let depth = 0;
  while (true) {
    const isHash = reference.length === HASH_LENGTH;
    const node = decodeNode(isHash ? resolve(reference, path, depth) : reference);
    if (node.kind === "branch") {
      if (depth === path.length) return branchValue(node);
      const child = childReference(node, path[depth]!);
      if (child === undefined) return undefined;
      reference = child;
      depth++;
      continue;
    }
    const end = depth + node.path.length;
    if (!equalBytes(path.subarray(depth, end), node.path)) return undefined;
    if (node.kind === "leaf") return end === path.length ? node.payload : undefined;
    reference = node.payload;
    depth = end;
  }
}
