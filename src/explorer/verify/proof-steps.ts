import { type Hash, hashFromBytes } from "../../primitives/hash.ts";
import { bytesToHex, type Hex } from "../../primitives/hex.ts";
import { keccak256 } from "../../primitives/keccak.ts";
import { decodeNode } from "../../trie/node.ts";
import { descend } from "../../trie/proof.ts";

/** One node of a proof, for people who follow it. */
export type ProofStep = {
  readonly kind: "branch" | "extension" | "leaf";
  /** recomputed from `rlp` */
  readonly hash: Hash;
  /** what the node before it, or the root, calls for */
  readonly expected: Hash;
  /** nibbles of the key before this node, and those it consumes, as hex digits */
  readonly before: string;
  readonly consumed: string;
  readonly rlp: Hex;
};

/** The nodes of `proof` on the way of `key` from `root` down, as far as it goes. @throws InvalidRlpError */
export function proofSteps(
  root: Uint8Array,
  key: Uint8Array,
  proof: readonly Uint8Array[],
): readonly ProofStep[] {
  const path = bytesToHex(key).slice(2);
  const steps: ProofStep[] = [];
  descend(root, key, (expected, _path, depth) => {
    const rlp = proof[steps.length];
    // Ends the descent: an empty branch has no child.
    if (rlp === undefined) return EMPTY_BRANCH;
    const node = decodeNode(rlp);
    const length = node.kind === "branch" ? 1 : node.path.length;
    steps.push({
      kind: node.kind,
      hash: hashFromBytes(keccak256(rlp)),
      expected: hashFromBytes(expected),
      before: path.slice(0, depth),
      consumed: path.slice(depth, depth + length),
      rlp: bytesToHex(rlp),
    });
    return rlp;
  });
  return steps;
}

/** RLP of 17 empty strings. */
const EMPTY_BRANCH = Uint8Array.of(0xd1, ...new Array<number>(17).fill(0x80));
