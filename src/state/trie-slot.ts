import { bigintToBytes, bytesToBigint } from "../primitives/bytes.ts";
import { decodeRlp, encodeRlp, InvalidRlpError } from "../primitives/rlp.ts";

/** The value of a slot as stored in a leaf of a storage trie; undefined for 0: such slots are not in the trie. */
export function encodeSlotValue(value: bigint): Uint8Array | undefined {
  return value === 0n ? undefined : encodeRlp(bigintToBytes(value));
}

/** @throws InvalidRlpError */
export function decodeSlotValue(leaf: Uint8Array | undefined): bigint {
  if (leaf === undefined) return 0n;
  const value = decodeRlp(leaf);
  if (!(value instanceof Uint8Array)) throw new InvalidRlpError("leaf is not a storage value");
  return bytesToBigint(value);
}
