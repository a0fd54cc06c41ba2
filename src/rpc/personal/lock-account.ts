import { defineMethod } from "../dispatch/method.ts";
import { address, boolean } from "../params/codec.ts";
import type { KeysPort } from "../ports/keys.ts";
import { andThen } from "../ports/maybe-promise.ts";

/** `personal_lockAccount`: forgets the account's key; true whatever the account was. */
export const lockAccount = defineMethod({
  name: "personal_lockAccount",
  params: { account: address },
  result: boolean,
  private: true,
  handle: ({ account }, { keys }: { keys: Pick<KeysPort, "lock"> }) =>
    andThen(keys.lock(account), () => true),
});
