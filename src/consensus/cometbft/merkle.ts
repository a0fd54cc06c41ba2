import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, EMPTY_BYTES } from "../../primitives/bytes.ts";

const LEAF = Uint8Array.of(0);
const INNER = Uint8Array.of(1);

/** Root of the Merkle tree of RFC 6962 over `leaves`, with SHA-256, as CometBFT hashes headers, transactions and validators. */
export function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  const { length } = leaves;
  if (length === 0) return sha256(EMPTY_BYTES);
  if (length === 1) return sha256(concatBytes(LEAF, leaves[0]!));
  // The largest power of two below `length`.
  const split = 1 << (31 - Math.clz32(length - 1));
  return sha256(
    concatBytes(INNER, merkleRoot(leaves.slice(0, split)), merkleRoot(leaves.slice(split))),
  );
}

/** CometBFT's hash of the transactions of a block, `data_hash` of its header. */
export function dataHash(txs: readonly Uint8Array[]): Uint8Array {
  return merkleRoot(txs.map((tx) => sha256(tx)));
}
