import type { Signature } from "../../base/crypto/secp256k1-backend.ts";
import type { Address } from "../../base/primitives/address.ts";

/** Accounts the node can sign for without being given a passphrase. Answers at once for a key in memory. */
export interface AccountSigner {
  /** Every account of the node, locked ones too. */
  accounts(): readonly Address[] | Promise<readonly Address[]>;
  /** @throws UnknownAccountError when the node has no such account */
  assertKnown(address: Address): void | Promise<void>;
  /**
   * @param digest 32 bytes
   * @throws UnknownAccountError when the node has no such account, AccountLockedError when its key is not in memory
   */
  sign(address: Address, digest: Uint8Array): Signature | Promise<Signature>;
}

export type WalletAccount = { readonly address: Address; readonly url: string };

/** Something that holds keys, as `personal_listWallets` shows it. */
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
  /** A try rejected without checking: too many wrong ones, or a full queue. */
  tryRejected(): void;
}
