import type { AccountManager } from "../../keystore/account-manager.ts";
import type { KeysPort } from "../../rpc/ports/keys.ts";

/** `KeysPort` over the key store of this process. */
export function createKeysPort(keys: AccountManager): KeysPort {
  return {
    accounts: () => keys.accounts(),
    assertKnown: (address) => keys.assertKnown(address),
    sign: (address, digest) => keys.sign(address, digest),
    signWithPassphrase: (address, passphrase, digest) =>
      keys.signWithPassphrase(address, passphrase, digest),
    unlock: (address, passphrase, seconds) => keys.unlock(address, passphrase, seconds),
    lock: (address) => keys.lock(address),
    create: (passphrase) => keys.create(passphrase),
    importKey: (privateKey, passphrase) => keys.importKey(privateKey, passphrase),
    wallets: () => keys.wallets(),
    async openWallet(url, passphrase) {
      await (await keys.hdWalletsFor(url, undefined))?.open(url, passphrase);
    },
    async deriveAccount(url, path, isPinned) {
      const wallets = await keys.hdWalletsFor(url, "not supported");
      return wallets!.derive(url, path, isPinned);
    },
    async initializeWallet(url) {
      const wallets = await keys.hdWalletsFor(
        url,
        "specified wallet does not support initialization",
      );
      return wallets!.initialize(url);
    },
    async unpairWallet(url, password) {
      const wallets = await keys.hdWalletsFor(url, "specified wallet does not support pairing");
      await wallets!.unpair(url, password);
    },
  };
}
