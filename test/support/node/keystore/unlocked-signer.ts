import { addressFromPrivateKey, sign } from "../../../../src/base/crypto/secp256k1.ts";
import type { Signature } from "../../../../src/base/crypto/secp256k1-backend.ts";
import type { Address } from "../../../../src/base/primitives/address.ts";
import { hexToBytes } from "../../../../src/base/primitives/hex.ts";
import type { AccountSigner } from "../../../../src/node/keystore/accounts.ts";
import { devAccounts } from "../../../../src/node/keystore/dev-accounts.ts";
import { UnknownAccountError } from "../../../../src/node/keystore/errors.ts";

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

/** Keys of the first `count` accounts of a dev chain, 32 bytes each. */
export function devPrivateKeys(count = 10): Uint8Array[] {
  return devAccounts(count).map(({ privateKey }) => hexToBytes(privateKey));
}
