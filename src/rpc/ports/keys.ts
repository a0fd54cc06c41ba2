import type { Signature } from "../../base/crypto/secp256k1-backend.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";

/** geth's default, which is also the service's. */
export const UNLOCK_SECONDS_DEFAULT = 300;

/** The accounts of the node. Keys never leave it: digests go in, signatures come out. Plain data only. */
export interface KeysPort {
  /** Every account of the node, locked ones too. */
  accounts(): MaybePromise<readonly Address[]>;
  /** @throws UnknownAccountError when the node has no such account */
  assertKnown(input: { readonly address: Address }): MaybePromise<void>;
  /**
   * Signs without being given a passphrase; at once with a key in memory.
   * @param input.digest 32 bytes
   * @throws UnknownAccountError when the node has no such account, AccountLockedError when its key is not in memory
   */
  sign(input: { readonly address: Address; readonly digest: Uint8Array }): MaybePromise<Signature>;
  /** As `sign`, for a transaction: on a dev chain also for an account that is impersonated, with `impersonatingSignature`. */
  signTransaction(input: { readonly address: Address; readonly digest: Uint8Array }): MaybePromise<Signature>;
  /** Signs with a key that is decrypted for this one signature; the account stays locked. */
  signWithPassphrase(input: {
    readonly address: Address;
    readonly passphrase: string;
    readonly digest: Uint8Array;
  }): Promise<Signature>;
  /** @param seconds 0: until the node stops */
  unlock(input: { readonly address: Address; readonly passphrase: string; readonly seconds: number }): Promise<void>;
  lock(input: { readonly address: Address }): MaybePromise<void>;
  /** The address of a new key, encrypted with `passphrase`. */
  create(input: { readonly passphrase: string }): Promise<Address>;
  importKey(input: { readonly privateKey: Uint8Array; readonly passphrase: string }): Promise<Address>;
  /** As `personal_listWallets` shows them. */
  wallets(): Promise<readonly unknown[]>;
  /** Does nothing for a key file. @throws WalletRequestError naming the next credential the wallet needs */
  openWallet(input: { readonly url: string; readonly passphrase: string | undefined }): Promise<void>;
  /** As `personal_deriveAccount` shows it. */
  deriveAccount(input: { readonly url: string; readonly path: string; readonly isPinned: boolean }): Promise<unknown>;
  /** The private key of the new wallet's first account. */
  initializeWallet(input: { readonly url: string }): Promise<string>;
  unpairWallet(input: { readonly url: string; readonly password: string }): Promise<void>;
}
