import { bigintToBytes, bytesToBigint } from "../../primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../primitives/hash.ts";
import { decodeRlp, encodeRlp } from "../../primitives/rlp.ts";
import { InvalidProofError, verifyProof } from "../../trie/proof.ts";
import { uint64Bytes } from "./checkpoint.ts";

/** What the canonical hash trie stores of a block. */
export type CanonicalBlock = {
  readonly hash: Hash;
  /** Sum of the difficulties from genesis to this block; 0 on a chain that began with proof of stake. */
  readonly totalDifficulty: bigint;
};

/** The key of block `number`; keys are not hashed. */
export function canonicalHashKey(number: number): Uint8Array {
  return uint64Bytes(number);
}

export function encodeCanonicalBlock({ hash, totalDifficulty }: CanonicalBlock): Uint8Array {
  return encodeRlp([hashToBytes(hash), bigintToBytes(totalDifficulty)]);
}

/**
 * What `proof` shows of block `number` to a client that trusts `chtRoot`.
 * @throws InvalidProofError, also when the trie has no such block
 */
export function verifyCanonicalBlock(
  chtRoot: Hash,
  number: number,
  proof: readonly Uint8Array[],
): CanonicalBlock {
  const value = verifyProof(hashToBytes(chtRoot), canonicalHashKey(number), proof);
  if (value === undefined) throw new InvalidProofError(`block ${number} is not in the trie`);
  const [hash, totalDifficulty] = decodeRlp(value) as [Uint8Array, Uint8Array];
  return { hash: hashFromBytes(hash), totalDifficulty: bytesToBigint(totalDifficulty) };
}
