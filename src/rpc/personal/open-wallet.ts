import { defineMethod } from "../dispatch/method.ts";
import { json, optional, string } from "../params/codec.ts";
import type { KeysPort } from "../ports/keys.ts";

/**
 * `personal_openWallet`: gives an HD wallet its pairing password, then its PIN; a key file needs none.
 *
 * @throws WalletRequestError that names what the wallet needs next
 */
export const openWallet = defineMethod({
  name: "personal_openWallet",
  params: { url: string, passphrase: optional(string) },
  result: json,
  private: true,
  async handle({ url, passphrase }, { keys }: { keys: Pick<KeysPort, "openWallet"> }) {
    await keys.openWallet(url, passphrase);
    return null;
  },
});
