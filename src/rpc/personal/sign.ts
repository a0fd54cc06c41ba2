import { defineMethod } from "../dispatch/method.ts";
import { messageHash, signatureBytes } from "../eth/sign/message-hash.ts";
import { address, data, optional, string } from "../params/codec.ts";
import type { RpcSettings } from "../ports/rpc-ports.ts";
import { type SigningKeys, signWith } from "./signing-keys.ts";

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
    modules: SigningKeys & { settings: Pick<RpcSettings, "chainName"> },
  ) {
    const digest = messageHash(modules.settings.chainName, message);
    return signatureBytes(await signWith(modules, account, passphrase, digest));
  },
});
