import { defineMethod } from "../dispatch/method.ts";
import { address, array } from "../params/codec.ts";
import type { KeysPort } from "../ports/keys.ts";

/** `personal_listAccounts`: every account of the node, locked ones too. */
export const listAccounts = defineMethod({
  name: "personal_listAccounts",
  params: {},
  result: array(address),
  private: true,
  handle: (_params, { keys }: { keys: Pick<KeysPort, "accounts"> }) => keys.accounts(),
});
