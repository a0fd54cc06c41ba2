import type { Address } from "../../primitives/address.ts";
import { leftPad } from "../../primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../primitives/hash.ts";
import { keccak256OfHex } from "../../primitives/keccak.ts";
import { decodeRlp, InvalidRlpError } from "../../primitives/rlp.ts";
import { EMPTY_ACCOUNT } from "../../state/account.ts";
import { decodeTrieAccount, type TrieAccount } from "../../state/trie-account.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../trie/empty-root.ts";
import { verifyProof } from "../../trie/proof.ts";
import { bytesOf, type Json, listOf } from "./json.ts";

const WORD_LENGTH = 32;

/** The nodes of a proof as `eth_getProof` answers them. @throws InvalidHexError */
export function nodesOf(proof: unknown): readonly Uint8Array[] {
  return listOf(proof).map(bytesOf);
}

/**
 * The account at `address` that the proof shows under `stateRoot`; an empty one when it shows that there is none.
 * @param answer of `eth_getProof`
 * @throws InvalidProofError, InvalidRlpError, InvalidHexError
 */
export function provenAccount(stateRoot: Hash, address: Address, answer: Json): TrieAccount {
  const key = keccak256OfHex(address);
  const leaf = verifyProof(hashToBytes(stateRoot), key, nodesOf(answer["accountProof"]));
  return leaf === undefined
    ? { ...EMPTY_ACCOUNT, storageRoot: EMPTY_TRIE_ROOT_BYTES }
    : decodeTrieAccount(leaf);
}

/**
 * The word that the proof shows in `slot` under `storageRoot`; zero when it shows that there is none.
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
