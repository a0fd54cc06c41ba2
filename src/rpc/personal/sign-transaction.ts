import { defineMethod } from "../dispatch/method.ts";
import { type SignTransactionModules, signedTransaction } from "../eth/sign/sign-transaction.ts";
import { callArguments } from "../params/call-arguments.ts";
import { rawJson, string } from "../params/codec.ts";
import type { KeysPort } from "../ports/keys.ts";
import { senderOf } from "./sender.ts";

/** `personal_signTransaction`: as `eth_signTransaction`, with the key opened by the passphrase for this one signature. */
export const personalSignTransaction = defineMethod({
  name: "personal_signTransaction",
  params: { request: callArguments, passphrase: string },
  result: rawJson,
  private: true,
  handle(
    { request, passphrase },
    modules: SignTransactionModules & { keys: Pick<KeysPort, "signWithPassphrase"> },
  ) {
    const from = senderOf(request.from);
    return signedTransaction(request, modules, (digest) =>
      modules.keys.signWithPassphrase(from, passphrase, digest),
    );
  },
});
