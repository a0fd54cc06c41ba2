import type { Signature } from "../../crypto/secp256k1-backend.ts";
import { type Address, addressFromBytes, addressToBytes } from "../../primitives/address.ts";
import { bigintToFixedBytes, concatBytes } from "../../primitives/bytes.ts";
import type { Hash } from "../../primitives/hash.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { encodeRlp } from "../../primitives/rlp.ts";
import { decodeTransaction } from "./decode.ts";
import type { Transaction } from "./transaction.ts";

const ADDRESS_END = 1n << 160n;

/**
 * Replaces the signature of a transaction that a dev chain sends for an account without a known key: r is the sender's address and s is 0, which
 * is never valid. `recoverSender` rejects it.
 */
export function impersonatingSignature(sender: Address): Signature {
  return { r: BigInt(sender), s: 0n, yParity: 0 };
}

/** The sender in an `impersonatingSignature`; undefined for other values of r and s. */
export function impersonatedSender({ r, s }: Pick<Transaction, "r" | "s">): Address | undefined {
  if (s !== 0n || r >= ADDRESS_END) return undefined;
  return addressFromBytes(bigintToFixedBytes(r, 20));
}

/** RLP of 0, the value of r and s in a transaction that anvil sends without a key. A signature ends in these bytes once in 65,536. */
const RLP_ZERO = 0x80;
/** Encodings from here on are lists, as in legacy transactions. */
const RLP_LIST = 0xc0;

/**
 * Hash of an included transaction: keccak256 of its canonical form. For one that anvil sent without a key, whose r and s are 0, it is keccak256
 * of its network form and the sender: otherwise, equal transactions of two accounts would have the same hash.
 */
export function includedHash(raw: Uint8Array, sender: Address): Hash {
  if (raw.at(-1) !== RLP_ZERO || raw.at(-2) !== RLP_ZERO || !isUnsigned(decodeTransaction(raw))) {
    return keccak256Hash(raw);
  }
  const network = raw[0]! >= RLP_LIST ? raw : encodeRlp(raw);
  return keccak256Hash(concatBytes(network, addressToBytes(sender)));
}

/** Whether r and s are 0, as in transactions that anvil sends without a key. */
export function isUnsigned({ r, s }: Pick<Transaction, "r" | "s">): boolean {
  return r === 0n && s === 0n;
}
