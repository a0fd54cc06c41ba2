import type { KeysPort } from "../../ports/keys.ts";
import { json, optional, string } from "../../transport/codec.ts";
import { defineMethod } from "../../transport/dispatch/method.ts";

/** `personal_listWallets`: every key file and HD wallet with its state. */
export const listWallets = defineMethod({
  name: "personal_listWallets",
  params: {},
  result: json,
  private: true,
  handle: (_params, { keys }: { keys: Pick<KeysPort, "wallets"> }) => keys.wallets(),
});

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
    await keys.openWallet({ url, passphrase });
    return null;
  },
});

/**
 * `personal_initializeWallet`: gives an HD wallet its seed, and makes the wallet if there is none; the private key of its first account,
 * which is returned only here.
 */
export const initializeWallet = defineMethod({
  name: "personal_initializeWallet",
  params: { url: string },
  result: string,
  private: true,
  handle: ({ url }, { keys }: { keys: Pick<KeysPort, "initializeWallet"> }) => keys.initializeWallet({ url }),
});

/** `personal_unpair`: ends the pairing of wallet and node, given the pairing password or the PIN. */
export const unpair = defineMethod({
  name: "personal_unpair",
  params: { url: string, password: string },
  result: json,
  private: true,
  async handle({ url, password }, { keys }: { keys: Pick<KeysPort, "unpairWallet"> }) {
    await keys.unpairWallet({ url, password });
    return null;
  },
});
