import type { AccountSigner } from "../../keystore/account-signer.ts";
import { address, data, optional, string } from "../codec.ts";
import { messageHash, signatureBytes } from "../message-hash.ts";
import { defineMethod } from "../method.ts";
import type { PassphraseSigner } from "../ports.ts";

/**
 * `personal_sign`: signature over the prefixed message; 65 bytes, v 27 or 28. With a passphrase the key is decrypted for this one
 * signature; without, as wallet libraries call it, the account must be unlocked.
 *
 * @throws UnknownAccountError, AccountLockedError, and the key store's
 */
export const personalSign = defineMethod({
  name: "personal_sign",
  params: { message: data, account: address, passphrase: optional(string) },
  result: data,
  private: true,
  async handle(
    { message, account, passphrase },
    modules: {
      signer: AccountSigner;
      chainName: string;
      passphraseSigner: PassphraseSigner | undefined;
    },
  ) {
    const digest = messageHash(modules.chainName, message);
    const signature =
      passphrase !== undefined && modules.passphraseSigner
        ? await modules.passphraseSigner(account, passphrase, digest)
        : modules.signer.sign(account, digest);
    return signatureBytes(signature);
  },
});
