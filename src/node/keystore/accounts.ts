import type { Signature } from "../../base/crypto/secp256k1-backend.ts";
import type { Address } from "../../base/primitives/address.ts";

/** Accounts that the node signs for without a passphrase. Synchronous for a key in memory. */
export interface AccountSigner {
  /** All accounts of the node, including locked ones. */
  accounts(): readonly Address[] | Promise<readonly Address[]>;
  /** @throws UnknownAccountError if the node does not have the account */
  assertKnown(address: Address): void | Promise<void>;
  /**
   * @param digest 32 bytes
   * @throws UnknownAccountError if the node does not have the account, AccountLockedError if its key is not in memory
   */
  sign(address: Address, digest: Uint8Array): Signature | Promise<Signature>;
}

export type WalletAccount = { readonly address: Address; readonly url: string };

/** A holder of keys, as `personal_listWallets` shows it. */
export type WalletStatus = {
  readonly url: string;
  readonly status: string;
  readonly failure?: string;
  readonly accounts?: readonly WalletAccount[];
};

/** Events of keys, for metrics. */
export interface KeyObserver {
  /** A wrong passphrase or PIN. */
  wrongSecret(): void;
  /** An attempt rejected without checking: too many wrong ones, or a full queue. */
  tryRejected(): void;
}
