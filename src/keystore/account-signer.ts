import { addressFromPrivateKey, type Signature, sign } from "../crypto/secp256k1.ts";
import type { Address } from "../primitives/address.ts";
import { UnknownAccountError } from "./errors.ts";

/** Accounts the node can sign for without asking anyone. */
export interface AccountSigner {
  accounts(): readonly Address[];
  /**
   * @param digest 32 bytes
   * @throws UnknownAccountError when the node has no such account, AccountLockedError when its key is not in memory
   */
  sign(address: Address, digest: Uint8Array): Signature;
}

/** Signs with keys that are public or held in memory by intent; they stay unlocked, in the order given. */
export function createUnlockedSigner(privateKeys: readonly Uint8Array[]): AccountSigner {
  const keys = new Map(privateKeys.map((key) => [addressFromPrivateKey(key), key]));
  const accounts = Object.freeze([...keys.keys()]);
  return {
    accounts: () => accounts,
    sign(address, digest) {
      const key = keys.get(address);
      if (key === undefined) throw new UnknownAccountError(address);
      return sign(digest, key);
    },
  };
}
