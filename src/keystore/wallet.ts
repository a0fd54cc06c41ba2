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

/** Events of keys, for metrics. */
export interface KeyObserver {
  /** A wrong passphrase or PIN. */
  wrongSecret(): void;
  /** A try rejected without checking: too many wrong ones, or a full queue. */
  tryRejected(): void;
}
