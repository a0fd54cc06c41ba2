import { sign } from "../../base/crypto/secp256k1.ts";
import type { Signature } from "../../base/crypto/secp256k1-backend.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { AccountSigner, KeyObserver, WalletStatus } from "./accounts.ts";
import {
  AccountLockedError,
  LockedMeanwhileError,
  UnknownAccountError,
  UnknownWalletError,
  UnlockDurationError,
  WalletRequestError,
  WrongPassphraseError,
} from "./errors.ts";
import type { HdWallets } from "./hd/hd-wallets.ts";
import type { KeyStore, StoredKey } from "./keystore.ts";
import type { PassphraseTries } from "./passphrases.ts";
import type { UnlockedKeys } from "./unlocked-keys.ts";

type AccountManagerModules = {
  readonly keyStore: KeyStore;
  readonly hdWallets: HdWallets;
  readonly unlocked: UnlockedKeys;
  readonly tries: PassphraseTries;
  readonly observer: Pick<KeyObserver, "wrongSecret">;
  /** Public keys of a dev chain: unlocked from the start, with any passphrase. */
  readonly publicKeys: ReadonlyMap<Address, Uint8Array>;
  /** @throws UnlockForbiddenError while strangers could use an unlocked account */
  readonly assertUnlockAllowed: () => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
};

/** geth rereads its folder no sooner than this. */
const LISTING_MS = 2000;

/** geth counts nanoseconds in 63 bits. */
const UNLOCK_SECONDS_MAX = 9_223_372_036;

/** All accounts of the node: lists, locks, unlocks and signs with them. */
export class AccountManager implements AccountSigner {
  readonly #modules: AccountManagerModules;
  readonly #publicKeys: ReadonlyMap<Address, Uint8Array>;
  readonly #now: () => number;
  #listing: { readonly at: number; readonly keys: Promise<readonly StoredKey[]> } | undefined;

  constructor(modules: AccountManagerModules) {
    this.#modules = modules;
    this.#now = modules.now ?? (() => performance.now());
    const { publicKeys, unlocked } = modules;
    this.#publicKeys = publicKeys;
    for (const [address, key] of this.#publicKeys) unlocked.hold(address, key.slice(), undefined);
  }

  /** Public accounts first, then accounts of HD wallets, then the key store's in the order of their files. */
  async accounts(): Promise<readonly Address[]> {
    const stored = await this.#stored();
    return [
      ...new Set([
        ...this.#publicKeys.keys(),
        ...this.#modules.hdWallets.accounts().map(({ address }) => address),
        ...stored.map(({ address }) => address),
      ]),
    ];
  }

  assertKnown(address: Address): void | Promise<void> {
    if (this.#modules.unlocked.get(address) || this.#publicKeys.has(address)) return undefined;
    return this.accounts().then((accounts) => {
      if (!accounts.includes(address)) throw new UnknownAccountError(address);
    });
  }

  sign(address: Address, digest: Uint8Array): Signature | Promise<Signature> {
    const { unlocked, hdWallets } = this.#modules;
    const key = unlocked.get(address);
    if (key !== undefined) return sign(digest, key);
    const signature = hdWallets.sign(address, digest);
    if (signature !== undefined) return signature;
    return this.#reject(address);
  }

  /**
   * Signs with a key decrypted for this signature only; does not change whether the account is locked.
   * @throws UnknownKeyError, AmbiguousKeyError, WrongPassphraseError, TooManyTriesError, KeyDerivationBusyError
   */
  async signWithPassphrase(address: Address, passphrase: string, digest: Uint8Array): Promise<Signature> {
    const key = await this.#open(address, passphrase);
    try {
      return sign(digest, key);
    } finally {
      key.fill(0);
    }
  }

  /**
   * Keeps the account's key in memory for `seconds`; 0: until the node exits.
   * @throws UnlockForbiddenError, UnlockDurationError, LockedMeanwhileError, and errors of signWithPassphrase
   */
  async unlock(address: Address, passphrase: string, seconds: number): Promise<void> {
    if (seconds > UNLOCK_SECONDS_MAX) throw new UnlockDurationError();
    const { unlocked, assertUnlockAllowed } = this.#modules;
    assertUnlockAllowed();
    const begun = unlocked.beginUnlock(address);
    const key = await this.#open(address, passphrase);
    // A listener may have opened during the passphrase check.
    try {
      assertUnlockAllowed();
    } catch (error) {
      key.fill(0);
      throw error;
    }
    const durationMs = seconds === 0 ? undefined : seconds * 1000;
    if (!unlocked.hold(address, key, durationMs, begun)) throw new LockedMeanwhileError(address);
  }

  /** Forgets the key; for an HD account, closes its whole wallet. Has no effect on locked and unknown accounts. */
  lock(address: Address): void {
    this.#modules.unlocked.lock(address);
    this.#modules.hdWallets.closeWalletOf(address);
  }

  /** Accounts of the key store and of wallets whose keys are in memory, without public ones. */
  unlockedAccounts(): Address[] {
    const { unlocked, hdWallets } = this.#modules;
    return [...unlocked.addresses(), ...hdWallets.onlineAccounts()].filter((address) => !this.#publicKeys.has(address));
  }

  /** Creates a key and its file. @returns the address */
  async create(passphrase: string): Promise<Address> {
    return this.#add(() => this.#modules.keyStore.create(passphrase));
  }

  /**
   * Writes a file for `privateKey`.
   * @returns the address
   * @throws InvalidPrivateKeyError, KeyExistsError, KeyDerivationBusyError
   */
  async importKey(privateKey: Uint8Array, passphrase: string): Promise<Address> {
    return this.#add(() => this.#modules.keyStore.importKey(privateKey, passphrase));
  }

  /** All wallets in ascending order of URL; each key file counts as one. */
  async wallets(): Promise<WalletStatus[]> {
    const { keyStore, hdWallets, unlocked } = this.#modules;
    const statusOf = (address: Address) => (unlocked.get(address) ? "Unlocked" : "Locked");
    const open = [...this.#publicKeys.keys()].map((address, index) => {
      const url = `dev://${index}`;
      return { url, status: statusOf(address), accounts: [{ address, url }] };
    });
    const files = (await keyStore.list()).map(({ address, path }) => {
      const url = `keystore://${path}`;
      return { url, status: statusOf(address), accounts: [{ address, url }] };
    });
    return [...open, ...hdWallets.list(), ...files];
  }

  /**
   * The HD wallets, for a request that only they support.
   * @throws UnknownWalletError, WalletRequestError with `otherwise` if `url` is a key file
   */
  async hdWalletsFor(url: string, otherwise: string | undefined): Promise<HdWallets | undefined> {
    const scheme = /^([a-z]+):\/\/./.exec(url)?.[1];
    if (scheme === undefined) throw new WalletRequestError("protocol scheme missing");
    const { hdWallets } = this.#modules;
    if (scheme === "hd" || scheme === "keycard") return hdWallets;
    if (!(await this.wallets()).some((wallet) => wallet.url === url)) {
      throw new UnknownWalletError(url);
    }
    if (otherwise !== undefined) throw new WalletRequestError(otherwise);
    return undefined;
  }

  /** Forgets every key. */
  close(): void {
    this.#modules.unlocked.lockAll();
    this.#modules.hdWallets.close();
  }

  /**
   * The key store's accounts, at most two seconds old: a listing reads every file, and anyone may request one. Keys added by this object appear
   * at once.
   */
  #stored(): Promise<readonly StoredKey[]> {
    const at = this.#now();
    if (this.#listing === undefined || at - this.#listing.at >= LISTING_MS) {
      const keys = this.#modules.keyStore.list();
      this.#listing = { at, keys };
      // An unreadable folder may become readable.
      keys.catch(() => this.#forgetListing());
    }
    return this.#listing.keys;
  }

  #forgetListing(): void {
    this.#listing = undefined;
  }

  async #add(make: () => Promise<StoredKey>): Promise<Address> {
    const { address } = await make();
    this.#forgetListing();
    return address;
  }

  async #open(address: Address, passphrase: string): Promise<Uint8Array> {
    const publicKey = this.#publicKeys.get(address);
    if (publicKey !== undefined) return publicKey.slice();
    const { keyStore, hdWallets, tries, observer } = this.#modules;
    const url = hdWallets.walletOf(address);
    // A wallet counts its wrong PINs itself, and blocks permanently.
    if (url !== undefined) return hdWallets.privateKey(address, passphrase);
    return tries.run(
      address,
      () => keyStore.privateKey(address, passphrase),
      (error) => {
        const isWrong = error instanceof WrongPassphraseError;
        if (isWrong) observer.wrongSecret();
        return isWrong;
      },
    );
  }

  async #reject(address: Address): Promise<never> {
    await this.assertKnown(address);
    throw new AccountLockedError(address);
  }
}
