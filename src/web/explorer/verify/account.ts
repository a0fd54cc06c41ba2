import type { Address } from "../../../base/primitives/address.ts";
import { leftPad } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../../base/primitives/hash.ts";
import { bytesToHex, type Hex } from "../../../base/primitives/hex.ts";
import { keccak256, keccak256OfHex } from "../../../base/primitives/keccak.ts";
import { decodeRlp, encodeRlp, InvalidRlpError } from "../../../base/primitives/rlp.ts";
import { EMPTY_ACCOUNT } from "../../../evm/state/account.ts";
import { decodeTrieAccount, type TrieAccount } from "../../../evm/state/trie-account.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../../store/trie/empty-root.ts";
import { decodeNode } from "../../../store/trie/node.ts";
import { descend, verifyProof } from "../../../store/trie/proof.ts";
import { bytesOf, type Json, listOf } from "./verdict.ts";

const WORD_LENGTH = 32;

/** The nodes of a proof in an answer of `eth_getProof`. @throws InvalidHexError */
export function nodesOf(proof: unknown): readonly Uint8Array[] {
  return listOf(proof).map(bytesOf);
}

/**
 * The account at `address` that the proof shows under `stateRoot`; an empty account if it proves absence.
 * @param answer of `eth_getProof`
 * @throws InvalidProofError, InvalidRlpError, InvalidHexError
 */
export function provenAccount(stateRoot: Hash, address: Address, answer: Json): TrieAccount {
  const key = keccak256OfHex(address);
  const leaf = verifyProof(hashToBytes(stateRoot), key, nodesOf(answer["accountProof"]));
  return leaf === undefined ? { ...EMPTY_ACCOUNT, storageRoot: EMPTY_TRIE_ROOT_BYTES } : decodeTrieAccount(leaf);
}

/**
 * The word that the proof shows in `slot` under `storageRoot`; zero if it proves absence.
 * @param proof an item of `storageProof`
 * @throws InvalidProofError, InvalidRlpError, InvalidHexError
 */
export function provenSlot(storageRoot: Uint8Array, slot: Hash, proof: Json): Hash {
  const leaf = verifyProof(storageRoot, keccak256OfHex(slot), nodesOf(proof["proof"]));
  if (leaf === undefined) return hashFromBytes(new Uint8Array(WORD_LENGTH));
  const value = decodeRlp(leaf);
  if (!(value instanceof Uint8Array) || value.length > WORD_LENGTH) {
    throw new InvalidRlpError("leaf is not a storage value");
  }
  return hashFromBytes(leftPad(value, WORD_LENGTH));
}

/** One node of a proof, for users who follow it. */
export type ProofStep = {
  readonly kind: "branch" | "extension" | "leaf";
  /** recomputed from `rlp` */
  readonly hash: Hash;
  /** the hash that the parent node or the root requires */
  readonly expected: Hash;
  /** nibbles of the key before this node, and those it consumes, as hex digits */
  readonly before: string;
  readonly consumed: string;
  readonly rlp: Hex;
};

/** The nodes of `proof` on the path of `key` from `root` down, as far as it goes. @throws InvalidRlpError */
export function proofSteps(root: Uint8Array, key: Uint8Array, proof: readonly Uint8Array[]): readonly ProofStep[] {
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

const HASH_LENGTH = 32;
const BRANCH = encodeRlp([...Array(16).fill(new Uint8Array(HASH_LENGTH)), new Uint8Array(0)]);
/** Iterations after which a browser has compiled the code. */
const NODES = 8;

/** Hashes and decodes trie nodes while the node computes an answer, so that the code that checks its proof is compiled. */
export function warmUp(): void {
  for (let i = 0; i < NODES; i++) {
    keccak256(BRANCH);
    decodeRlp(BRANCH);
  }
}
