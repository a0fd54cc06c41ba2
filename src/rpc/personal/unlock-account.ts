import { UNLOCK_SECONDS_DEFAULT } from "../../keystore/account-manager.ts";
import { defineMethod } from "../dispatch/method.ts";
import { address, boolean, optional, string } from "../params/codec.ts";
import { lenientInteger } from "../params/lenient-integer.ts";
import type { KeysPort } from "../ports/keys.ts";

/**
 * `personal_unlockAccount`: holds the account's key in memory for `duration` seconds, 300 by default, 0: until the node exits.
 *
 * @throws UnlockForbiddenError, WrongPassphraseError, UnknownKeyError, TooManyTriesError, KeyDerivationBusyError
 */
export const unlockAccount = defineMethod({
  name: "personal_unlockAccount",
  params: {
    account: address,
    passphrase: optional(string, ""),
    duration: optional(lenientInteger, UNLOCK_SECONDS_DEFAULT),
  },
  result: boolean,
  private: true,
  async handle({ account, passphrase, duration }, { keys }: { keys: Pick<KeysPort, "unlock"> }) {
    await keys.unlock(account, passphrase, duration);
    return true;
  },
});
