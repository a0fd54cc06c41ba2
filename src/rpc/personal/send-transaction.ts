import { defineMethod } from "../dispatch/method.ts";
import { type SendModules, sendSigned } from "../eth/submit/send-transaction.ts";
import { callArguments } from "../params/call-arguments.ts";
import { hash, string } from "../params/codec.ts";
import type { KeysPort } from "../ports/keys.ts";
import { senderOf } from "./sender.ts";

type PassphraseModules = { readonly keys: Pick<KeysPort, "assertKnown" | "signWithPassphrase"> };

/**
 * `personal_sendTransaction`: as `eth_sendTransaction`, with the key opened by the passphrase for this one transaction; the hash.
 *
 * @throws WrongPassphraseError, UnknownKeyError, TooManyTriesError, and what `eth_sendTransaction` throws
 */
export const personalSendTransaction = defineMethod({
  name: "personal_sendTransaction",
  params: { request: callArguments, passphrase: string },
  result: hash,
  private: true,
  async handle({ request, passphrase }, modules: SendModules & PassphraseModules) {
    const from = senderOf(request.from);
    // Before anything is estimated for an account that is not here.
    await modules.keys.assertKnown(from);
    return sendSigned(request, from, modules, (digest) =>
      modules.keys.signWithPassphrase(from, passphrase, digest),
    );
  },
});
