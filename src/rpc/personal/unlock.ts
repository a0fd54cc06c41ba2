import { UNLOCK_SECONDS_DEFAULT } from "../../keystore/account-manager.ts";
import { defineMethod } from "../dispatch/method.ts";
import { address, boolean, optional, string } from "../params/codec.ts";
import { lenientInteger } from "../params/lenient-integer.ts";
import type { KeyModules } from "./accounts.ts";

/**
 * `personal_unlockAccount`: keeps the account's key in memory for `duration` seconds, 300 unless told otherwise, 0: until the node exits.
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
  async handle({ account, passphrase, duration }, { keys }: KeyModules) {
    await keys.unlock(account, passphrase, duration);
    return true;
  },
});

/** `personal_lockAccount`: forgets the account's key; true whatever the account was. */
export const lockAccount = defineMethod({
  name: "personal_lockAccount",
  params: { account: address },
  result: boolean,
  private: true,
  handle({ account }, { keys }: KeyModules) {
    keys.lock(account);
    return true;
  },
});
