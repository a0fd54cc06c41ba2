import { recoverAddress } from "../../../base/crypto/secp256k1.ts";
import type { Signature } from "../../../base/crypto/secp256k1-backend.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import { inSlices } from "../../../base/threads/in-slices.ts";
import type { MaybePromise } from "../../../base/threads/maybe-promise.ts";
import type { KeysPort } from "../../ports/keys.ts";
import { address, data, hash, json, optional, rawJson, string } from "../../transport/codec.ts";
import { InvalidSignatureError, TransactionFieldsError } from "../../transport/errors.ts";
import { defineForwardedMethod, defineMethod } from "../define-method.ts";
import { messageHash, signatureBytes, signedTransaction } from "../eth/sign.ts";
import { sendSigned } from "../eth/submit.ts";
import { typedDataHash } from "../eth/typed-data.ts";
import { callArguments } from "../params/call-arguments.ts";

/** @throws TransactionFieldsError without a sender: `personal` has no default account */
function senderOf<T>(from: T | undefined): T {
  if (from === undefined) throw new TransactionFieldsError("sender not specified");
  return from;
}

type SigningKeys = { readonly keys: Pick<KeysPort, "sign" | "signWithPassphrase"> };

/** With a passphrase the key is decrypted for this one signature; without, the account must be unlocked. */
function signWith(
  { keys }: SigningKeys,
  account: Address,
  passphrase: string | undefined,
  digest: Uint8Array,
): MaybePromise<Signature> {
  return passphrase === undefined
    ? keys.sign({ address: account, digest })
    : keys.signWithPassphrase({ address: account, passphrase, digest });
}

/**
 * `personal_sign`: signature over the prefixed message; 65 bytes, v 27 or 28. A passphrase decrypts the key for this signature only;
 * without one, as wallet libraries call it, the account must be unlocked.
 *
 * @throws UnknownAccountError, AccountLockedError, and the key store's
 */
export const personalSign = defineMethod({
  name: "personal_sign",
  params: { message: data, account: address, passphrase: optional(string) },
  result: data,
  private: true,
  async handle({ message, account, passphrase }, modules) {
    const digest = await messageHash(modules, message);
    return signatureBytes(await signWith(modules, account, passphrase, digest));
  },
});

/** `personal_signTypedData`: as `personal_sign`, over EIP-712 data given as an object or JSON text. */
export const personalSignTypedData = defineMethod({
  name: "personal_signTypedData",
  params: { typedData: json, account: address, passphrase: optional(string) },
  result: data,
  private: true,
  async handle({ typedData, account, passphrase }, modules) {
    const digest = await inSlices(typedDataHash(typedData), modules.sessions.slices.hash);
    return signatureBytes(await signWith(modules, account, passphrase, digest));
  },
});

/** `personal_signTransaction`: as `eth_signTransaction`; the passphrase decrypts the key for this signature only. */
export const personalSignTransaction = defineMethod({
  name: "personal_signTransaction",
  params: { request: callArguments, passphrase: string },
  result: rawJson,
  private: true,
  handle({ request, passphrase }, modules) {
    const from = senderOf(request.from);
    return signedTransaction(request, modules, (digest) =>
      modules.keys.signWithPassphrase({ address: from, passphrase, digest }),
    );
  },
});

/**
 * `personal_sendTransaction`: as `eth_sendTransaction`; the passphrase decrypts the key for this transaction only.
 *
 * @throws WrongPassphraseError, UnknownKeyError, TooManyTriesError, and what `eth_sendTransaction` throws
 */
export const personalSendTransaction = defineForwardedMethod({
  name: "personal_sendTransaction",
  params: { request: callArguments, passphrase: string },
  result: hash,
  private: true,
  async handle({ request, passphrase }, modules) {
    const from = senderOf(request.from);
    // Before anything is estimated for an account that is not here.
    await modules.keys.assertKnown({ address: from });
    return sendSigned(request, from, modules, (digest) =>
      modules.keys.signWithPassphrase({ address: from, passphrase, digest }),
    );
  },
});

/**
 * `personal_ecRecover`: the account whose key made a `personal_sign` signature over `message`.
 *
 * @throws InvalidSignatureError
 */
export const ecRecover = defineMethod({
  name: "personal_ecRecover",
  params: { message: data, signature: data },
  result: address,
  private: true,
  async handle({ message, signature }, modules) {
    if (signature.length !== 65) {
      throw new InvalidSignatureError("signature must be 65 bytes long");
    }
    const v = signature[64]!;
    if (v !== 27 && v !== 28) {
      throw new InvalidSignatureError("invalid Ethereum signature (V is not 27 or 28)");
    }
    const signer = recoverAddress(
      await messageHash(modules, message),
      bytesToBigint(signature.subarray(0, 32)),
      bytesToBigint(signature.subarray(32, 64)),
      v === 27 ? 0 : 1,
    );
    if (signer === undefined) throw new InvalidSignatureError("recovery failed");
    return signer;
  },
});
