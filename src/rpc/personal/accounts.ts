import type { AccountManager } from "../../keystore/account-manager.ts";
import { checksumAddress } from "../../primitives/address.ts";
import { InvalidParamsError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { address, array, json, optional, string } from "../params/codec.ts";

/** What the methods of `personal` work on. */
export type KeyModules = { readonly keys: AccountManager };

/** `personal_listAccounts`: every account of the node, locked ones too. */
export const listAccounts = defineMethod({
  name: "personal_listAccounts",
  params: {},
  result: array(address),
  private: true,
  handle: (_params, { keys }: KeyModules) => keys.accounts(),
});

/** `personal_newAccount`: makes a key, encrypted with the passphrase; its address with EIP-55 checksum, as geth has it. */
export const newAccount = defineMethod({
  name: "personal_newAccount",
  params: { passphrase: string },
  result: string,
  private: true,
  handle: async ({ passphrase }, { keys }: KeyModules) =>
    checksumAddress(await keys.create(passphrase)),
});

/**
 * `personal_importRawKey`: stores a private key, 64 hex digits with or without 0x, encrypted with the password; its address.
 *
 * @throws KeyExistsError, InvalidPrivateKeyError, KeyDerivationBusyError
 */
export const importRawKey = defineMethod({
  name: "personal_importRawKey",
  params: { privateKey: string, password: string },
  result: address,
  private: true,
  async handle({ privateKey, password }, { keys }: KeyModules) {
    const bytes = readPrivateKey(privateKey);
    try {
      return await keys.importKey(bytes, password);
    } finally {
      bytes.fill(0);
    }
  },
});

/** `personal_listWallets`: every key file and HD wallet with its state. */
export const listWallets = defineMethod({
  name: "personal_listWallets",
  params: {},
  result: json,
  private: true,
  handle: (_params, { keys }: KeyModules) => keys.wallets(),
});

/**
 * `personal_openWallet`: gives an HD wallet its pairing password, then its PIN; a key file needs none.
 *
 * @throws WalletRequestError telling what the wallet wants next
 */
export const openWallet = defineMethod({
  name: "personal_openWallet",
  params: { url: string, passphrase: optional(string) },
  result: json,
  private: true,
  async handle({ url, passphrase }, { keys }: KeyModules) {
    await (await keys.hdWalletsFor(url, undefined))?.open(url, passphrase);
    return null;
  },
});

/** `personal_deriveAccount`: another account of an open HD wallet; `pin` keeps it in the wallet. */
export const deriveAccount = defineMethod({
  name: "personal_deriveAccount",
  params: { url: string, path: string, pin: optional({ decode: json.decode }, false) },
  result: json,
  private: true,
  async handle({ url, path, pin }, { keys }: KeyModules) {
    const wallets = await keys.hdWalletsFor(url, "not supported");
    return wallets!.derive(url, path, pin === true);
  },
});

/**
 * `personal_initializeWallet`: gives an HD wallet its seed, and makes the wallet if there is none; the private key of its first account,
 * which is told this once.
 */
export const initializeWallet = defineMethod({
  name: "personal_initializeWallet",
  params: { url: string },
  result: string,
  private: true,
  async handle({ url }, { keys }: KeyModules) {
    const wallets = await keys.hdWalletsFor(
      url,
      "specified wallet does not support initialization",
    );
    return wallets!.initialize(url);
  },
});

/** `personal_unpair`: ends the pairing of wallet and node, given the pairing password or the PIN. */
export const unpair = defineMethod({
  name: "personal_unpair",
  params: { url: string, password: string },
  result: json,
  private: true,
  async handle({ url, password }, { keys }: KeyModules) {
    const wallets = await keys.hdWalletsFor(url, "specified wallet does not support pairing");
    await wallets!.unpair(url, password);
    return null;
  },
});

/** @throws InvalidParamsError, which never repeats what was given but for one character that is no digit */
function readPrivateKey(text: string): Uint8Array {
  const digits = text.replace(/^0[xX]/, "");
  const odd = /[^0-9a-fA-F]/.exec(digits)?.[0];
  if (odd !== undefined) {
    throw new InvalidParamsError(
      `invalid hex character ${JSON.stringify(odd)} in private key`,
      "privateKey",
    );
  }
  if (digits.length !== 64) {
    throw new InvalidParamsError("invalid length, need 256 bits", "privateKey");
  }
  return Uint8Array.from(Buffer.from(digits, "hex"));
}
