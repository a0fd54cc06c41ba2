import type { Address } from "../../../base/primitives/address.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Metrics } from "../../../base/telemetry/metrics.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import type { Config } from "../../config/config.ts";
import { keystorePath, walletsPath } from "../../config/home.ts";
import { AccountManager } from "../../keystore/account-manager.ts";
import type { KeyObserver } from "../../keystore/accounts.ts";
import { HdWallets } from "../../keystore/hd/hd-wallets.ts";
import { WalletDirectory } from "../../keystore/hd/wallet-file.ts";
import { KeyStore } from "../../keystore/keystore.ts";
import { KeyDerivation, PASSPHRASE_LIMITS, PassphraseTries } from "../../keystore/passphrases.ts";
import { UnlockedKeys } from "../../keystore/unlocked-keys.ts";

/**
 * The accounts of a node: its key files, its HD wallets and, on a dev chain, the public ones.
 * @param assertUnlockAllowed throws while strangers could use an unlocked account
 */
export function openKeys(
  config: Config,
  log: Logger,
  {
    metrics,
    timers,
    assertUnlockAllowed,
    publicKeys,
  }: {
    readonly metrics: Metrics;
    readonly timers: Timers;
    readonly assertUnlockAllowed: () => void;
    /** Private keys of the dev chain's accounts. */
    readonly publicKeys: ReadonlyMap<Address, Uint8Array>;
  },
): AccountManager {
  const { strength, allowReadableByOthers } = config.keystore;
  const observer = countKeys(metrics);
  const unlocked = new UnlockedKeys(timers);
  const tries = new PassphraseTries(PASSPHRASE_LIMITS.triesMax, {
    onRejected: observer.tryRejected,
  });
  const derivation = new KeyDerivation(PASSPHRASE_LIMITS.waitingMax, observer.tryRejected);
  const keys = new AccountManager({
    keyStore: new KeyStore(
      {
        directory: keystorePath(config.home),
        strength,
        allowReadableByOthers,
      },
      { log, derivation },
    ),
    hdWallets: new HdWallets(strength, {
      directory: new WalletDirectory(walletsPath(config.home), { allowReadableByOthers }),
      derivation,
      tries,
      log,
      observer,
      assertUnlockAllowed,
    }),
    unlocked,
    tries,
    observer,
    publicKeys,
    assertUnlockAllowed,
  });
  metrics.gaugeOf(
    { name: "keys_unlocked", help: "Accounts whose key is in memory, except public keys." },
    () => keys.unlockedAccounts().length,
  );
  return keys;
}

function countKeys(metrics: Metrics): KeyObserver {
  const wrong = metrics.counter({
    name: "keys_wrong_secrets_total",
    help: "Wrong passphrases, PINs and pairing passwords.",
  });
  const refused = metrics.counter({
    name: "keys_refused_tries_total",
    help: "Passphrases rejected without a try: too many wrong ones, or a full queue.",
  });
  return { wrongSecret: () => wrong.add(), tryRejected: () => refused.add() };
}
