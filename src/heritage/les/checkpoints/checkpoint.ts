import { bigintToBytes, bytesToBigint, concatBytes } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../../base/primitives/hash.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import { decodeRlp, encodeRlp } from "../../../base/primitives/rlp.ts";
import { InvalidProofError, verifyProof } from "../../../store/trie/proof.ts";

/** Numbers of blocks for checkpoints: mainnet's sizes and geth's confirmations, so that section numbers agree with other clients. */
export const CHECKPOINT_LIMITS = {
  /** Blocks of a section; a multiple of 8. If the size changes, the node recomputes all checkpoints. */
  sectionSize: 32_768,
  /** Blocks after the end of a section before the node computes its checkpoint. */
  confirmations: 256,
} as const;

/** A light client's trust anchor: it can verify all older headers and blooms with it. */
export type Checkpoint = {
  /** From 0; section i ends before block (i + 1) × section size. */
  readonly sectionIndex: number;
  /** Hash of the section's last block. */
  readonly sectionHead: Hash;
  /** Root of the canonical hash trie after the section. */
  readonly chtRoot: Hash;
  /** Root of the bloom trie after the section. */
  readonly bloomRoot: Hash;
};

/** A number in the tries and the checkpoint hash: 8 bytes big-endian. */
export function uint64Bytes(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

/** The hash that signers of the checkpoint oracle vote for. */
export function checkpointHash(checkpoint: Checkpoint): Hash {
  const { sectionIndex, sectionHead, chtRoot, bloomRoot } = checkpoint;
  return keccak256Hash(
    concatBytes(uint64Bytes(sectionIndex), hashToBytes(sectionHead), hashToBytes(chtRoot), hashToBytes(bloomRoot)),
  );
}

/** A block in the canonical hash trie. */
type CanonicalBlock = {
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
 * The content of `proof` about block `number`, for a client that trusts `chtRoot`.
 * @throws InvalidProofError, also if the trie does not have the block
 */
export function verifyCanonicalBlock(chtRoot: Hash, number: number, proof: readonly Uint8Array[]): CanonicalBlock {
  const value = verifyProof(hashToBytes(chtRoot), canonicalHashKey(number), proof);
  if (value === undefined) throw new InvalidProofError(`block ${number} is not in the trie`);
  const [hash, totalDifficulty] = decodeRlp(value) as [Uint8Array, Uint8Array];
  return { hash: hashFromBytes(hash), totalDifficulty: bytesToBigint(totalDifficulty) };
}
