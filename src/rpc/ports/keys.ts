import type { Signature } from "../../crypto/secp256k1.ts";
import type { AccountSigner } from "../../keystore/accounts.ts";
import type { Address } from "../../primitives/address.ts";
import type { MaybePromise } from "../../threads/maybe-promise.ts";

/** The accounts of the node. Keys never leave it: digests go in, signatures come out. Plain data only. */
export interface KeysPort extends AccountSigner {
  /** As `sign`, for a transaction: on a dev chain also for an account that is impersonated, with `impersonatingSignature`. */
  signTransaction(address: Address, digest: Uint8Array): MaybePromise<Signature>;
  /** Signs with a key that is decrypted for this one signature; the account stays locked. */
  signWithPassphrase(address: Address, passphrase: string, digest: Uint8Array): Promise<Signature>;
  /** @param seconds 0: until the node stops */
  unlock(address: Address, passphrase: string, seconds: number): Promise<void>;
  lock(address: Address): MaybePromise<void>;
  /** The address of a new key, encrypted with `passphrase`. */
  create(passphrase: string): Promise<Address>;
  importKey(privateKey: Uint8Array, passphrase: string): Promise<Address>;
  /** As `personal_listWallets` shows them. */
  wallets(): Promise<readonly unknown[]>;
  /** Does nothing for a key file. @throws WalletRequestError naming what the wallet needs next */
  openWallet(url: string, passphrase: string | undefined): Promise<void>;
  /** As `personal_deriveAccount` shows it. */
  deriveAccount(url: string, path: string, isPinned: boolean): Promise<unknown>;
  /** The private key of the new wallet's first account. */
  initializeWallet(url: string): Promise<string>;
  unpairWallet(url: string, password: string): Promise<void>;
}
