import { defineMethod } from "../../dispatch/method.ts";
import { address, array } from "../../params/codec.ts";
import type { KeysPort } from "../../ports/keys.ts";

/** `eth_accounts`: the accounts this node can sign for. */
export const accounts = defineMethod({
  name: "eth_accounts",
  params: {},
  result: array(address),
  handle: (_params, { keys }: { keys: Pick<KeysPort, "accounts"> }) => keys.accounts(),
});
