import { json, nothing, optional, string } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";

/** `personal_listWallets`: every key file and HD wallet with its state. */
export const listWallets = defineMethod({
  name: "personal_listWallets",
  params: {},
  result: json,
  private: true,
  handle: (_params, { keys }) => keys.wallets(),
});

/**
 * `personal_openWallet`: opens an HD wallet: pass its pairing password first, then its PIN. Key files need neither.
 *
 * @throws WalletRequestError that names the next credential the wallet needs
 */
export const openWallet = defineMethod({
  name: "personal_openWallet",
  params: { url: string, passphrase: optional(string) },
  result: nothing,
  private: true,
  handle: ({ url, passphrase }, { keys }) => keys.openWallet({ url, passphrase }),
});

/**
 * `personal_initializeWallet`: seeds an HD wallet, and creates it if it does not exist. Returns the private key of its first account, which
 * no other method returns.
 */
export const initializeWallet = defineMethod({
  name: "personal_initializeWallet",
  params: { url: string },
  result: string,
  private: true,
  handle: ({ url }, { keys }) => keys.initializeWallet({ url }),
});

/** `personal_unpair`: unpairs the wallet from the node, given the pairing password or the PIN. */
export const unpair = defineMethod({
  name: "personal_unpair",
  params: { url: string, password: string },
  result: nothing,
  private: true,
  handle: ({ url, password }, { keys }) => keys.unpairWallet({ url, password }),
});
