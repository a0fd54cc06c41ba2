import type { AccountSigner } from "../../../keystore/account-signer.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { address, data } from "../../params/codec.ts";
import { messageHash, signatureBytes } from "./message-hash.ts";

/**
 * `eth_sign`: signature of an unlocked account over the prefixed message; 65 bytes, v 27 or 28.
 *
 * @throws UnknownAccountError, AccountLockedError
 */
export const sign = defineMethod({
  name: "eth_sign",
  params: { account: address, message: data },
  result: data,
  async handle(
    { account, message },
    { signer, chainName }: { signer: AccountSigner; chainName: string },
  ) {
    return signatureBytes(await signer.sign(account, messageHash(chainName, message)));
  },
});
