import { defineMethod } from "../dispatch/method.ts";
import { json } from "../params/codec.ts";
import type { KeysPort } from "../ports/keys.ts";

/** `personal_listWallets`: every key file and HD wallet with its state. */
export const listWallets = defineMethod({
  name: "personal_listWallets",
  params: {},
  result: json,
  private: true,
  handle: (_params, { keys }: { keys: Pick<KeysPort, "wallets"> }) => keys.wallets(),
});
