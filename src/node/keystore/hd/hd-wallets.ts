import { randomBytes, timingSafeEqual } from "node:crypto";
import type { HDKey } from "@scure/bip32";
import { sign } from "../../../base/crypto/secp256k1.ts";
import type { Signature } from "../../../base/crypto/secp256k1-backend.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { bytesToHex, type Hex } from "../../../base/primitives/hex.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import type { WalletAccount, WalletStatus } from "../accounts.ts";
import { UnknownKeyError, UnknownWalletError, WalletRequestError, WrongPassphraseError } from "../errors.ts";
import type { KeyStrength } from "../key-file.ts";
import { BASE_PATH, childOf, parseDerivationPath, phraseOf, rootOf } from "./hd-key.ts";
import { closeBox, isWalletId, openBox, type WalletDirectory, type WalletFile } from "./wallet-file.ts";
import { WalletVault, type WalletVaultModules } from "./wallet-vault.ts";

type HdWalletsModules = WalletVaultModules & {
  /** @throws UnlockForbiddenError while strangers could use the accounts of an open wallet */
  readonly assertUnlockAllowed: () => void;
};

/** A wallet whose PIN was given. */
type Open = {
  readonly masterKey: Uint8Array;
  /** undefined until the wallet has a seed */
  root: HDKey | undefined;
  /** Accounts derived without pinning, forgotten when the wallet closes. */
  readonly ephemeral: Map<Address, string>;
};

const FIRST_PATH = `${BASE_PATH}/0`;
const PIN = /^\d{6,}$/;
const PUK_AND_PIN = /^(\d{12})(\d{6,})$/;

/**
 * Software HD wallets at `hd://NAME` (BIP-39, BIP-32, BIP-44) that behave like geth's smart cards: a pairing password introduces the node to the
 * wallet, a PIN opens it, a PUK unblocks it after too many wrong PINs.
 */
export class HdWallets {
  readonly #modules: HdWalletsModules;
  readonly #vault: WalletVault;
  readonly #open = new Map<string, Open>();
  /** The last change of a wallet. Changes run one after the other, since two at once would overwrite each other's file. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(strength: KeyStrength, modules: HdWalletsModules) {
    this.#modules = modules;
    this.#vault = new WalletVault(strength, modules);
  }

  /** All wallets, by ascending URL. */
  list(): WalletStatus[] {
    return this.#directory.ids().map((id) => {
      const file = this.#directory.read(id)!;
      const accounts = this.#accountsOf(id, file);
      return {
        url: urlOf(id),
        status: this.#statusOf(id, file),
        ...(accounts.length > 0 && { accounts }),
      };
    });
  }

  accounts(): WalletAccount[] {
    const paired = this.#directory.pairings();
    return this.#directory
      .ids()
      .filter((id) => Object.hasOwn(paired, id))
      .flatMap((id) => this.#accountsOf(id, this.#directory.read(id)!));
  }

  /** Accounts that can sign without a PIN now. */
  onlineAccounts(): Address[] {
    return [...this.#open].flatMap(([id, { root }]) =>
      root === undefined ? [] : this.#accountsOf(id, this.#directory.read(id)!).map(({ address }) => address),
    );
  }

  walletOf(address: Address): string | undefined {
    const url = this.accounts().find((account) => account.address === address)?.url;
    return url && urlOf(idOf(url));
  }

  /** Signature by an account of an open wallet; undefined for other accounts. */
  sign(address: Address, digest: Uint8Array): Signature | undefined {
    for (const [id, { root, ephemeral }] of this.#open) {
      const path = ephemeral.get(address) ?? this.#directory.read(id)?.accounts[address];
      if (root === undefined || path === undefined) continue;
      const { privateKey } = childOf(root, path);
      try {
        return sign(digest, privateKey);
      } finally {
        privateKey.fill(0);
      }
    }
    return undefined;
  }

  /**
   * The key of one account, 32 bytes that the caller owns and wipes; does not open the wallet.
   * @throws UnknownKeyError, WalletRequestError, WrongPassphraseError, KeyDerivationBusyError
   */
  privateKey(address: Address, pin: string): Promise<Uint8Array> {
    return this.#alone(() => this.#privateKey(address, pin));
  }

  async #privateKey(address: Address, pin: string): Promise<Uint8Array> {
    const url = this.walletOf(address);
    if (url === undefined) throw new UnknownKeyError(address);
    const id = idOf(url);
    const masterKey = await this.#vault.openByPin(id, pin);
    try {
      const file = this.#directory.read(id)!;
      const root = await this.#rootOf(file, masterKey);
      const path = file.accounts[address];
      if (root === undefined || path === undefined) throw new UnknownKeyError(address);
      const { privateKey } = childOf(root, path);
      root.wipePrivateData();
      return privateKey;
    } finally {
      masterKey.fill(0);
    }
  }

  /**
   * Performs one step towards an open wallet: pairs with a pairing password, sets or accepts a PIN, or accepts a PUK with a new PIN. Creates an
   * unknown wallet, without a seed.
   *
   * @throws WalletRequestError that names the next required credential, UnlockForbiddenError, WrongPassphraseError, KeyDerivationBusyError
   */
  open(url: string, passphrase: string | undefined): Promise<void> {
    return this.#alone(() => this.#openStep(url, passphrase));
  }

  async #openStep(url: string, passphrase: string | undefined): Promise<void> {
    const id = idOf(url);
    if (this.#open.has(id)) throw new WalletRequestError("smartcard: already open");
    const file = this.#directory.read(id);
    if (!Object.hasOwn(this.#directory.pairings(), id)) {
      if (!passphrase) throw new WalletRequestError("smartcard: pairing password needed");
      if (file === undefined) await this.#vault.create(id, passphrase);
      else await this.#vault.pair(id, passphrase);
      throw new WalletRequestError(
        file?.pinTriesLeft === 0 ? "smartcard: pin unblock needed" : "smartcard: pin needed",
      );
    }
    if (file === undefined) throw new UnknownWalletError(url);
    if (file.pinTriesLeft === 0) {
      const match = PUK_AND_PIN.exec(passphrase ?? "");
      if (match === null) throw new WalletRequestError("smartcard: pin unblock needed");
      this.#modules.assertUnlockAllowed();
      this.#keepOpen(id, await this.#vault.unblock(id, match[1]!, match[2]!));
    } else {
      if (!PIN.test(passphrase ?? "")) throw new WalletRequestError("smartcard: pin needed");
      this.#modules.assertUnlockAllowed();
      const masterKey =
        file.pin === null ? await this.#vault.setPin(id, passphrase!) : await this.#vault.openByPin(id, passphrase!);
      this.#keepOpen(id, masterKey);
    }
    const open = this.#open.get(id)!;
    open.root = await this.#rootOf(this.#directory.read(id)!, open.masterKey);
  }

  /**
   * Gives a wallet its seed. Creates an unknown wallet first and writes its passwords to a file, which the owner should move away.
   *
   * @returns the private key of the first account; it is not shown again
   * @throws WalletRequestError if the wallet has a seed, or exists and is not open; KeyDerivationBusyError
   */
  initialize(url: string): Promise<Hex> {
    return this.#alone(() => this.#initialize(url));
  }

  async #initialize(url: string): Promise<Hex> {
    const id = idOf(url);
    const file = this.#directory.read(id);
    let masterKey: Uint8Array;
    if (file === undefined) {
      await this.#vault.create(id, randomBytes(16).toString("hex"));
      masterKey = await this.#vault.setPin(id);
    } else {
      if (file.entropy !== null) {
        throw new WalletRequestError("card is already initialized, cowardly refusing to proceed");
      }
      const open = this.#open.get(id);
      if (open === undefined) throw new WalletRequestError("smartcard: pin needed");
      masterKey = open.masterKey;
    }
    const entropy = randomBytes(32);
    const root = await rootOf(await phraseOf(entropy));
    const { address, privateKey } = childOf(root, FIRST_PATH);
    this.#directory.write(id, {
      ...this.#directory.read(id)!,
      entropy: closeBox(entropy, masterKey),
      accounts: { [address]: FIRST_PATH },
    });
    entropy.fill(0);
    this.#becomeOnline(id, masterKey, root);
    const shown = bytesToHex(privateKey);
    privateKey.fill(0);
    return shown;
  }

  /**
   * Derives another account of an open wallet.
   * @param pin stores it in the wallet; otherwise it is forgotten when the wallet closes
   * @throws WalletRequestError
   */
  derive(url: string, path: string, pin: boolean): WalletAccount {
    const id = idOf(url);
    const file = this.#directory.read(id);
    if (file === undefined) throw new UnknownWalletError(url);
    const absolute = parseDerivationPath(path);
    const open = this.#open.get(id);
    if (open?.root === undefined) throw new WalletRequestError(this.#statusOf(id, file));
    const { address, privateKey } = childOf(open.root, absolute);
    privateKey.fill(0);
    if (pin) {
      this.#directory.write(id, { ...file, accounts: { ...file.accounts, [address]: absolute } });
    } else open.ephemeral.set(address, absolute);
    return { address, url: `${urlOf(id)}/${absolute}` };
  }

  /**
   * Ends the pairing between wallet and node; the seed stays sealed on disk.
   * @param secret the pairing password or the PIN
   * @throws UnknownWalletError, WalletRequestError, KeyDerivationBusyError
   */
  unpair(url: string, secret: string): Promise<void> {
    return this.#alone(() => this.#unpair(url, secret));
  }

  async #unpair(url: string, secret: string): Promise<void> {
    const id = idOf(url);
    const pairings = this.#directory.pairings();
    if (this.#directory.read(id) === undefined) throw new UnknownWalletError(url);
    const pairing = Object.hasOwn(pairings, id) ? pairings[id] : undefined;
    if (pairing === undefined) throw new WalletRequestError(`wallet ${urlOf(id)} not paired`);
    if (!isSame(pairing, secret)) {
      try {
        (await this.#vault.openByPin(id, secret)).fill(0);
      } catch (error) {
        if (!(error instanceof WrongPassphraseError)) throw error;
        throw new WalletRequestError(`failed to verify pin: ${error.message}`);
      }
    }
    this.#close(id);
    const { [id]: _gone, ...rest } = this.#directory.pairings();
    this.#directory.writePairings(rest);
  }

  closeWalletOf(address: Address): void {
    for (const [id, { ephemeral }] of [...this.#open]) {
      if (ephemeral.has(address) || this.#directory.read(id)?.accounts[address]) this.#close(id);
    }
  }

  close(): void {
    for (const id of [...this.#open.keys()]) this.#close(id);
  }

  #alone<T>(task: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(task);
    this.#turn = mine.catch(() => {});
    return mine;
  }

  get #directory(): WalletDirectory {
    return this.#modules.directory;
  }

  #accountsOf(id: string, file: WalletFile): WalletAccount[] {
    const ephemeral = this.#open.get(id)?.ephemeral ?? [];
    return [...(Object.entries(file.accounts) as [Address, string][]), ...ephemeral].map(([address, path]) => ({
      address,
      url: `${urlOf(id)}/${path}`,
    }));
  }

  #statusOf(id: string, file: WalletFile): string {
    if (!Object.hasOwn(this.#directory.pairings(), id)) {
      return "Unpaired, waiting for pairing password";
    }
    if (file.pinTriesLeft === 0) {
      return file.pukTriesLeft === 0
        ? "Bricked, waiting for full wipe"
        : `Blocked, waiting for PUK (${file.pukTriesLeft} attempts left) and new PIN`;
    }
    const open = this.#open.get(id);
    if (open === undefined) return `Locked, waiting for PIN (${file.pinTriesLeft} attempts left)`;
    return open.root === undefined ? "Empty, waiting for initialization" : "Online";
  }

  async #rootOf(file: WalletFile, masterKey: Uint8Array): Promise<HDKey | undefined> {
    if (file.entropy === null) return undefined;
    const entropy = openBox(file.entropy, masterKey);
    if (entropy === undefined) throw new WrongPassphraseError();
    try {
      return await rootOf(await phraseOf(entropy));
    } finally {
      entropy.fill(0);
    }
  }

  #keepOpen(id: string, masterKey: Uint8Array): void {
    this.#close(id);
    this.#open.set(id, { masterKey, root: undefined, ephemeral: new Map() });
  }

  /** Called after a seed was created; the wallet stays closed if strangers could use it. */
  #becomeOnline(id: string, masterKey: Uint8Array, root: HDKey): void {
    try {
      this.#modules.assertUnlockAllowed();
    } catch {
      this.#close(id);
      masterKey.fill(0);
      root.wipePrivateData();
      return;
    }
    const open = this.#open.get(id);
    if (open) open.root = root;
    else this.#open.set(id, { masterKey, root, ephemeral: new Map() });
  }

  #close(id: string): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.masterKey.fill(0);
    open.root?.wipePrivateData();
    this.#open.delete(id);
  }
}

/** @throws UnknownWalletError if the URL is not valid for a wallet */
function idOf(url: string): string {
  const id = /^(?:hd|keycard):\/\/([^/]+)(?:\/m\/.*)?$/.exec(url)?.[1];
  if (id === undefined || !isWalletId(id) || id === "pairings") throw new UnknownWalletError(url);
  return id;
}

function urlOf(id: string): string {
  return `hd://${id}`;
}

/** Compares secrets of any length in constant time. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(keccak256(Buffer.from(a)), keccak256(Buffer.from(b)));
}
