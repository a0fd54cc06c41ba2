import type { Address } from "../../base/primitives/address.ts";
import { impersonatingSignature } from "../../base/types/transaction/impersonation.ts";
import type { DevChain } from "../../dev/dev-chain.ts";
import type { KeysPort } from "../../rpc/ports/keys.ts";
import type { AccountManager } from "../keystore/account-manager.ts";

/**
 * `KeysPort` over the key store of this process.
 * @param devChain knows impersonated accounts, which send without a key
 * @param options.listsImpersonated lists impersonated accounts too, as anvil does
 */
export function createKeysPort(
  keys: AccountManager,
  devChain: Pick<DevChain, "isImpersonated" | "settings"> | undefined,
  { listsImpersonated = false } = {},
): KeysPort {
  const isImpersonated = (address: Address) => devChain?.isImpersonated(address) ?? false;
  return {
    async accounts() {
      const own = await keys.accounts();
      const impersonated = listsImpersonated ? (devChain?.settings.impersonated ?? []) : [];
      return [...own, ...impersonated.filter((address) => !own.includes(address))];
    },
    assertKnown({ address }) {
      if (!isImpersonated(address)) return keys.assertKnown(address);
    },
    async signTransaction({ address, digest }) {
      try {
        return await keys.sign(address, digest);
      } catch (error) {
        if (isImpersonated(address)) return impersonatingSignature(address);
        throw error;
      }
    },
    sign: ({ address, digest }) => keys.sign(address, digest),
    signWithPassphrase: ({ address, passphrase, digest }) => keys.signWithPassphrase(address, passphrase, digest),
    unlock: ({ address, passphrase, seconds }) => keys.unlock(address, passphrase, seconds),
    lock: ({ address }) => keys.lock(address),
    create: ({ passphrase }) => keys.create(passphrase),
    importKey: ({ privateKey, passphrase }) => keys.importKey(privateKey, passphrase),
    wallets: () => keys.wallets(),
    async openWallet({ url, passphrase }) {
      await (await keys.hdWalletsFor(url, undefined))?.open(url, passphrase);
    },
    async deriveAccount({ url, path, isPinned }) {
      const wallets = await keys.hdWalletsFor(url, "not supported");
      return wallets!.derive(url, path, isPinned);
    },
    async initializeWallet({ url }) {
      const wallets = await keys.hdWalletsFor(url, "specified wallet does not support initialization");
      return wallets!.initialize(url);
    },
    async unpairWallet({ url, password }) {
      const wallets = await keys.hdWalletsFor(url, "specified wallet does not support pairing");
      await wallets!.unpair(url, password);
    },
  };
}
