import { type Address, addressFromBytes, addressToBytes } from "../primitives/address.ts";
import { bigintToBytes } from "../primitives/bytes.ts";
import { keccak256 } from "../primitives/keccak.ts";
import { encodeRlp } from "../primitives/rlp.ts";

/** Where a creation by `creator` at `nonce` puts its contract (Yellow Paper 7). */
export function contractAddress(creator: Address, nonce: bigint): Address {
  const encoded = encodeRlp([addressToBytes(creator), bigintToBytes(nonce)]);
  return addressFromBytes(keccak256(encoded).subarray(12));
}
