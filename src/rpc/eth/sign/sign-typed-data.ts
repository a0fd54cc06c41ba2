import { aliasMethod, defineMethod } from "../../dispatch/method.ts";
import { address, data, json } from "../../params/codec.ts";
import { signatureBytes } from "./message-hash.ts";
import type { SignerModules } from "./sign-fields.ts";
import { typedDataHash } from "./typed-data.ts";

/**
 * `eth_signTypedData_v4`: signature of an unlocked account over EIP-712 data, given as object or as JSON text.
 *
 * @throws TypedDataError, UnknownAccountError, AccountLockedError
 */
export const signTypedDataV4 = defineMethod({
  name: "eth_signTypedData_v4",
  params: { account: address, typedData: json },
  result: data,
  async handle({ account, typedData }, { keys }: SignerModules) {
    return signatureBytes(await keys.sign(account, typedDataHash(typedData)));
  },
});

/** The name before versions. */
export const signTypedData = aliasMethod(signTypedDataV4, "eth_signTypedData");
