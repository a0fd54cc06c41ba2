import { checksumAddress } from "../../../base/primitives/address.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import { UNLOCK_SECONDS_DEFAULT } from "../../ports/keys.ts";
import { address, array, boolean, json, lenientInteger, optional, string } from "../../transport/codec.ts";
import { InvalidParamsError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";

/** `personal_listAccounts`: every account of the node, including locked ones. */
export const listAccounts = defineMethod({
  name: "personal_listAccounts",
  params: {},
  result: array(address),
  private: true,
  handle: (_params, { keys }) => keys.accounts(),
});

/** `personal_newAccount`: creates a key encrypted with the passphrase; returns its checksummed address (EIP-55), as geth. */
export const newAccount = defineMethod({
  name: "personal_newAccount",
  params: { passphrase: string },
  result: string,
  private: true,
  handle: async ({ passphrase }, { keys }) => checksumAddress(await keys.create({ passphrase })),
});

/**
 * `personal_importRawKey`: stores a private key (64 hex digits, with or without 0x) encrypted with the password; returns its address.
 *
 * @throws KeyExistsError, InvalidPrivateKeyError, KeyDerivationBusyError
 */
export const importRawKey = defineMethod({
  name: "personal_importRawKey",
  params: { privateKey: string, password: string },
  result: address,
  private: true,
  async handle({ privateKey, password }, { keys }) {
    const bytes = readPrivateKey(privateKey);
    try {
      return await keys.importKey({ privateKey: bytes, passphrase: password });
    } finally {
      bytes.fill(0);
    }
  },
});

/** @throws InvalidParamsError, which never repeats the input, except for one character that is not a digit */
function readPrivateKey(text: string): Uint8Array {
  const digits = text.replace(/^0[xX]/, "");
  const odd = /[^0-9a-fA-F]/.exec(digits)?.[0];
  if (odd !== undefined) {
    throw new InvalidParamsError(`invalid hex character ${JSON.stringify(odd)} in private key`, "privateKey");
  }
  if (digits.length !== 64) {
    throw new InvalidParamsError("invalid length, need 256 bits", "privateKey");
  }
  return Uint8Array.from(Buffer.from(digits, "hex"));
}

/** `personal_deriveAccount`: derives another account of an open HD wallet; `pin` keeps it in the wallet. */
export const deriveAccount = defineMethod({
  name: "personal_deriveAccount",
  params: { url: string, path: string, pin: optional({ decode: json.decode }, false) },
  result: json,
  private: true,
  handle: ({ url, path, pin }, { keys }) => keys.deriveAccount({ url, path, isPinned: pin === true }),
});

/** `personal_lockAccount`: removes the account's key from memory; always true. */
export const lockAccount = defineMethod({
  name: "personal_lockAccount",
  params: { account: address },
  result: boolean,
  private: true,
  handle: ({ account }, { keys }) => andThen(keys.lock({ address: account }), () => true),
});

/**
 * `personal_unlockAccount`: keeps the account's key in memory for `duration` seconds (300 by default); 0 keeps it until the node exits.
 *
 * @throws UnlockForbiddenError, WrongPassphraseError, UnknownKeyError, TooManyTriesError, KeyDerivationBusyError
 */
export const unlockAccount = defineMethod({
  name: "personal_unlockAccount",
  params: {
    account: address,
    passphrase: optional(string, ""),
    duration: optional(lenientInteger, UNLOCK_SECONDS_DEFAULT),
  },
  result: boolean,
  private: true,
  async handle({ account, passphrase, duration }, { keys }) {
    await keys.unlock({ address: account, passphrase, seconds: duration });
    return true;
  },
});
