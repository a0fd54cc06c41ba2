import type { Signature } from "../../crypto/secp256k1-backend.ts";
import { type Address, addressFromBytes } from "../../primitives/address.ts";
import { bigintToFixedBytes } from "../../primitives/bytes.ts";
import type { Transaction } from "./transaction.ts";

const ADDRESS_END = 1n << 160n;

/**
 * In place of a signature in a transaction that a dev chain sends for an account whose key nobody has: r is the sender's address and
 * s is 0, which no signature has. `recoverSender` rejects it.
 */
export function impersonatingSignature(sender: Address): Signature {
  return { r: BigInt(sender), s: 0n, yParity: 0 };
}

/** The sender that `impersonatingSignature` named; undefined for a transaction with any other r and s. */
export function impersonatedSender({ r, s }: Pick<Transaction, "r" | "s">): Address | undefined {
  if (s !== 0n || r >= ADDRESS_END) return undefined;
  return addressFromBytes(bigintToFixedBytes(r, 20));
}
