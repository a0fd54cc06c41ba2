import { NodeError } from "../errors.ts";
import { equalBytes } from "../primitives/bytes.ts";
import { keccak256 } from "../primitives/keccak.ts";
import { InvalidRlpError } from "../primitives/rlp.ts";
import { descend } from "./descend.ts";

/** A proof that does not show what is in the trie. */
export class InvalidProofError extends NodeError {
  readonly code = "INVALID_TRIE_PROOF";
}

/**
 * The value that `proof` shows `key` to have under `root`, a view; undefined when it shows that there is none.
 * @param proof nodes from the root on; each has to be needed
 * @throws InvalidProofError
 */
export function verifyProof(
  root: Uint8Array,
  key: Uint8Array,
  proof: readonly Uint8Array[],
): Uint8Array | undefined {
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
