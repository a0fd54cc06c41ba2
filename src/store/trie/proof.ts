import { NodeError } from "../../base/errors.ts";
import { equalBytes } from "../../base/primitives/bytes.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { InvalidRlpError } from "../../base/primitives/rlp.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { nibblesOf } from "./nibbles.ts";
import { branchValue, childReference, decodeNode, HASH_LENGTH } from "./node.ts";

/** The Merkle proof is invalid. */
export class InvalidProofError extends NodeError {
  readonly code = "INVALID_TRIE_PROOF";
}

/**
 * The value of `key` under `root` that `proof` proves, a view; undefined if it proves that `key` has no value.
 * @param proof nodes from the root on; each has to be needed
 * @throws InvalidProofError
 */
export function verifyProof(root: Uint8Array, key: Uint8Array, proof: readonly Uint8Array[]): Uint8Array | undefined {
  let used = 0;
  const takeNode = (hash: Uint8Array): Uint8Array => {
    const node = proof[used++];
    if (node === undefined) throw new InvalidProofError("proof ends before the path");
    if (!equalBytes(keccak256(node), hash)) {
      throw new InvalidProofError(`node ${used - 1} has another hash`);
    }
    return node;
  };
  try {
    const value = descend(root, key, takeNode);
    if (used < proof.length) {
      throw new InvalidProofError(`${proof.length - used} nodes after the end of the path`);
    }
    return value;
  } catch (error) {
    if (!(error instanceof InvalidRlpError)) throw error;
    throw new InvalidProofError("node is not a trie node", {}, { cause: error });
  }
}

/** RLP of the node that has `hash`, at the first `depth` nibbles of `path`. */
export type ResolveNode = (hash: Uint8Array, path: Uint8Array, depth: number) => Uint8Array;

/** The value of `key` under `root`, a view; undefined when it has none. Asks for each node with a hash on the way. */
export function descend(root: Uint8Array, key: Uint8Array, resolve: ResolveNode): Uint8Array | undefined {
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
