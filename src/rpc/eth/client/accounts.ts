import type { AccountSigner } from "../../../keystore/account-signer.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { address, array } from "../../params/codec.ts";

/** `eth_accounts`: the accounts this node can sign for. */
export const accounts = defineMethod({
  name: "eth_accounts",
  params: {},
  result: array(address),
  handle: (_params, { signer }: { signer: AccountSigner }) => signer.accounts(),
});
