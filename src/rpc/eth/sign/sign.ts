import { defineMethod } from "../../dispatch/method.ts";
import { address, data } from "../../params/codec.ts";
import type { RpcSettings } from "../../ports/rpc-ports.ts";
import { messageHash, signatureBytes } from "./message-hash.ts";
import type { SignerModules } from "./sign-fields.ts";

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
    { keys, settings }: SignerModules & { settings: Pick<RpcSettings, "chainName"> },
  ) {
    return signatureBytes(await keys.sign(account, messageHash(settings.chainName, message)));
  },
});
