import { defineMethod } from "../dispatch/method.ts";
import { json, string } from "../params/codec.ts";
import type { KeysPort } from "../ports/keys.ts";

/** `personal_unpair`: ends the pairing of wallet and node, given the pairing password or the PIN. */
export const unpair = defineMethod({
  name: "personal_unpair",
  params: { url: string, password: string },
  result: json,
  private: true,
  async handle({ url, password }, { keys }: { keys: Pick<KeysPort, "unpairWallet"> }) {
    await keys.unpairWallet(url, password);
    return null;
  },
});
