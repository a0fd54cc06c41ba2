import { type Address, addressFromBytes, addressToBytes } from "../primitives/address.ts";
import { bigintToBytes, concatBytes } from "../primitives/bytes.ts";
import { type Hash, hashToBytes } from "../primitives/hash.ts";
import { keccak256 } from "../primitives/keccak.ts";
import { encodeRlp } from "../primitives/rlp.ts";

/** Address of the contract that `creator` makes at `nonce` (Yellow Paper 7, equation 88). */
export function createAddress(creator: Address, nonce: bigint): Address {
  const item = encodeRlp([addressToBytes(creator), bigintToBytes(nonce)]);
  return addressFromBytes(keccak256(item).subarray(12));
}

/** Address of the contract that `creator` makes with CREATE2 (EIP-1014). */
export function create2Address(creator: Address, salt: Hash, initCode: Uint8Array): Address {
  const preimage = concatBytes(
    Uint8Array.of(0xff),
    addressToBytes(creator),
    hashToBytes(salt),
    keccak256(initCode),
  );
  return addressFromBytes(keccak256(preimage).subarray(12));
}
