import { TransactionFieldsError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { type SignTransactionModules, signedTransaction } from "../eth/sign/sign-transaction.ts";
import { type SendModules, sendSigned } from "../eth/submit/send-transaction.ts";
import { callRequest } from "../params/call-request.ts";
import { hash, rawJson, string } from "../params/codec.ts";
import type { KeyModules } from "./accounts.ts";

/**
 * `personal_sendTransaction`: as `eth_sendTransaction`, with the key opened by the passphrase for this one transaction; the hash.
 *
 * @throws WrongPassphraseError, UnknownKeyError, TooManyTriesError, and what `eth_sendTransaction` throws
 */
export const personalSendTransaction = defineMethod({
  name: "personal_sendTransaction",
  params: { request: callRequest, passphrase: string },
  result: hash,
  private: true,
  async handle({ request, passphrase }, modules: SendModules & KeyModules) {
    const from = senderOf(request.from);
    // Before anything is estimated for an account that is not here.
    await modules.keys.assertKnown(from);
    return sendSigned(request, from, modules, (digest) =>
      modules.keys.signWithPassphrase(from, passphrase, digest),
    );
  },
});

/** `personal_signTransaction`: as `eth_signTransaction`, with the key opened by the passphrase for this one signature. */
export const personalSignTransaction = defineMethod({
  name: "personal_signTransaction",
  params: { request: callRequest, passphrase: string },
  result: rawJson,
  private: true,
  handle({ request, passphrase }, modules: SignTransactionModules & KeyModules) {
    const from = senderOf(request.from);
    return signedTransaction(request, modules, (digest) =>
      modules.keys.signWithPassphrase(from, passphrase, digest),
    );
  },
});

function senderOf<T>(from: T | undefined): T {
  if (from === undefined) throw new TransactionFieldsError("sender not specified");
  return from;
}
