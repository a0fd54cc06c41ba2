import { defineMethod } from "../dispatch/method.ts";
import { json, optional, string } from "../params/codec.ts";
import type { KeysPort } from "../ports/keys.ts";

/** `personal_deriveAccount`: another account of an open HD wallet; `pin` keeps it in the wallet. */
export const deriveAccount = defineMethod({
  name: "personal_deriveAccount",
  params: { url: string, path: string, pin: optional({ decode: json.decode }, false) },
  result: json,
  private: true,
  handle: ({ url, path, pin }, { keys }: { keys: Pick<KeysPort, "deriveAccount"> }) =>
    keys.deriveAccount(url, path, pin === true),
});
