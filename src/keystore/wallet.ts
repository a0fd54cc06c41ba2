import type { Address } from "../primitives/address.ts";

/** One account of a wallet. */
export type WalletAccount = { readonly address: Address; readonly url: string };

/** Something that holds keys, as `personal_listWallets` shows it. */
export type WalletStatus = {
  readonly url: string;
  readonly status: string;
  readonly failure?: string;
  readonly accounts?: readonly WalletAccount[];
};

/** What happened to keys, for whoever counts. */
export interface KeyObserver {
  /** A wrong passphrase or PIN. */
  wrongSecret(): void;
  /** A try that was refused unseen: too many wrong ones, or too long a queue. */
  tryRefused(): void;
}
