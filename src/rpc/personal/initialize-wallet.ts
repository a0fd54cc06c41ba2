import { defineMethod } from "../dispatch/method.ts";
import { string } from "../params/codec.ts";
import type { KeysPort } from "../ports/keys.ts";

/**
 * `personal_initializeWallet`: gives an HD wallet its seed, and makes the wallet if there is none; the private key of its first account,
 * which is returned only here.
 */
export const initializeWallet = defineMethod({
  name: "personal_initializeWallet",
  params: { url: string },
  result: string,
  private: true,
  handle: ({ url }, { keys }: { keys: Pick<KeysPort, "initializeWallet"> }) =>
    keys.initializeWallet(url),
});
