import { addressFromPrivateKey, type Signature, sign } from "../crypto/secp256k1.ts";
import type { Address } from "../primitives/address.ts";
import { UnknownAccountError } from "./errors.ts";

/** Accounts the node can sign for without being given a passphrase. Answers at once for a key in memory. */
export interface AccountSigner {
  /** Every account of the node, locked ones too. */
  accounts(): readonly Address[] | Promise<readonly Address[]>;
  /** @throws UnknownAccountError when the node has no such account */
  assertKnown(address: Address): void | Promise<void>;
  /**
   * @param digest 32 bytes
   * @throws UnknownAccountError when the node has no such account, AccountLockedError when its key is not in memory
   */
  sign(address: Address, digest: Uint8Array): Signature | Promise<Signature>;
}

/** Signs with keys that are public or held in memory by intent; they stay unlocked, in the order given. */
export function createUnlockedSigner(privateKeys: readonly Uint8Array[]) {
  const keys = new Map(privateKeys.map((key) => [addressFromPrivateKey(key), key]));
  const accounts = Object.freeze([...keys.keys()]);
  return {
    accounts: () => accounts,
    assertKnown(address: Address): void {
      if (!keys.has(address)) throw new UnknownAccountError(address);
    },
    sign(address: Address, digest: Uint8Array): Signature {
      const key = keys.get(address);
      if (key === undefined) throw new UnknownAccountError(address);
      return sign(digest, key);
    },
  } satisfies AccountSigner;
}
