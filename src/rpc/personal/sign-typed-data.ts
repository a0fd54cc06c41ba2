import { defineMethod } from "../dispatch/method.ts";
import { signatureBytes } from "../eth/sign/message-hash.ts";
import { typedDataHash } from "../eth/sign/typed-data.ts";
import { address, data, json, optional, string } from "../params/codec.ts";
import { type SigningKeys, signWith } from "./signing-keys.ts";

/** `personal_signTypedData`: as `personal_sign`, over EIP-712 data given as object or as JSON text. */
export const personalSignTypedData = defineMethod({
  name: "personal_signTypedData",
  params: { typedData: json, account: address, passphrase: optional(string) },
  result: data,
  private: true,
  async handle({ typedData, account, passphrase }, modules: SigningKeys) {
    return signatureBytes(await signWith(modules, account, passphrase, typedDataHash(typedData)));
  },
});
