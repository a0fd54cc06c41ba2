import { InvalidParamsError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { address, string } from "../params/codec.ts";
import type { KeysPort } from "../ports/keys.ts";

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
  async handle({ privateKey, password }, { keys }: { keys: Pick<KeysPort, "importKey"> }) {
    const bytes = readPrivateKey(privateKey);
    try {
      return await keys.importKey(bytes, password);
    } finally {
      bytes.fill(0);
    }
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
