import { concatBytes } from "../../primitives/bytes.ts";
import { type Hash, hashToBytes } from "../../primitives/hash.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";

/** Blocks of checkpoints; mainnet's sizes and geth's confirmations, so that the numbers of sections agree with other clients'. */
export const CHECKPOINT_LIMITS = {
  /** Of a section; a multiple of `bloomSectionSize`. Another size has all checkpoints computed anew. */
  sectionSize: 32_768,
  /** Whose blooms are indexed together; a multiple of 8. */
  bloomSectionSize: 4096,
  /** From the end of a section to the head before its checkpoint is computed. */
  confirmations: 256,
} as const;

/** What a light client trusts: with it, it can verify every older header and every bloom. */
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

/** A number as the tries and the checkpoint hash have it: 8 bytes big-endian. */
export function uint64Bytes(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

/** What the signers of the checkpoint oracle vote for. */
export function checkpointHash(checkpoint: Checkpoint): Hash {
  const { sectionIndex, sectionHead, chtRoot, bloomRoot } = checkpoint;
  return keccak256Hash(
    concatBytes(
      uint64Bytes(sectionIndex),
      hashToBytes(sectionHead),
      hashToBytes(chtRoot),
      hashToBytes(bloomRoot),
    ),
  );
}
