import { randomBytes, randomUUID } from "node:crypto";
import { addressFromPrivateKey, isPrivateKey } from "../../base/crypto/secp256k1.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import { AmbiguousKeyError, KeyExistsError, UnknownKeyError } from "./errors.ts";
import { KeyDirectory } from "./key-directory.ts";
import { decryptKey, encryptKey, type KeyStrength, parseKeyFile, renderKeyFile } from "./key-file.ts";
import { KeyDerivation } from "./passphrases.ts";

/** A key that the node has on file. */
export type StoredKey = { readonly address: Address; readonly path: string };

export type KeyStoreOptions = {
  readonly directory: string;
  readonly strength: KeyStrength;
  /** Accepts files that other users can read. */
  readonly allowReadableByOthers: boolean;
};

type KeyStoreModules = {
  readonly log: Logger;
  /** Milliseconds of the Unix clock. */
  readonly now?: () => number;
  /** Shared by all code that checks passphrases, so that only one check runs at a time. */
  readonly derivation?: KeyDerivation;
};

/** A folder of encrypted private keys (Web3 Secret Storage), shared with geth and with users who copy files into it. */
export class KeyStore {
  readonly #directory: KeyDirectory;
  readonly #strength: KeyStrength;
  readonly #derivation: KeyDerivation;
  readonly #log: Logger;
  readonly #now: () => number;
  /** The address in each file, by path, so that a listing reads only changed files. */
  readonly #known = new Map<string, { version: string; address: Address | undefined }>();
  /** Accounts whose file is being written. */
  readonly #adding = new Set<Address>();

  constructor(options: KeyStoreOptions, modules: KeyStoreModules) {
    this.#directory = new KeyDirectory(options.directory, options);
    this.#strength = options.strength;
    this.#derivation = modules.derivation ?? new KeyDerivation();
    this.#log = modules.log;
    this.#now = modules.now ?? Date.now;
  }

  /** All keys in ascending order of file name, including files placed by hand. Omits files without an address. */
  async list(): Promise<StoredKey[]> {
    const entries = await this.#directory.entries();
    const present = new Set(entries.map(({ path }) => path));
    for (const path of this.#known.keys()) if (!present.has(path)) this.#known.delete(path);
    const keys: StoredKey[] = [];
    for (const { path, version } of entries) {
      let known = this.#known.get(path);
      if (known?.version !== version) {
        known = { version, address: await this.#addressIn(path) };
        this.#known.set(path, known);
      }
      if (known.address !== undefined) keys.push({ address: known.address, path });
    }
    return keys;
  }

  /**
   * The only file of `address`.
   * @throws UnknownKeyError, AmbiguousKeyError
   */
  async find(address: Address): Promise<StoredKey> {
    const found = (await this.list()).filter((key) => key.address === address);
    if (found.length > 1) {
      throw new AmbiguousKeyError(
        address,
        found.map(({ path }) => path),
      );
    }
    if (found[0] === undefined) throw new UnknownKeyError(address);
    return found[0];
  }

  /** Creates a random key and its file. */
  async create(passphrase: string): Promise<StoredKey> {
    let privateKey: Uint8Array;
    // The bytes are an invalid key once in 2^128.
    do privateKey = randomBytes(32);
    while (!isPrivateKey(privateKey));
    try {
      return await this.importKey(privateKey, passphrase);
    } finally {
      privateKey.fill(0);
    }
  }

  /**
   * Writes a file for `privateKey`.
   * @throws InvalidPrivateKeyError, KeyExistsError, KeyDerivationBusyError
   */
  async importKey(privateKey: Uint8Array, passphrase: string): Promise<StoredKey> {
    const address = addressFromPrivateKey(privateKey);
    if (this.#adding.has(address)) throw new KeyExistsError(address);
    this.#adding.add(address);
    try {
      if ((await this.list()).some((key) => key.address === address)) {
        throw new KeyExistsError(address);
      }
      const text = await this.#encrypt(privateKey, passphrase);
      return { address, path: await this.#directory.create(address, text, this.#now()) };
    } finally {
      this.#adding.delete(address);
    }
  }

  /**
   * Imports a key file made elsewhere, re-encrypted.
   * @throws InvalidKeyFileError, WrongPassphraseError, KeyMismatchError, KeyExistsError
   */
  async importFile(text: string, passphrase: string, newPassphrase: string): Promise<StoredKey> {
    const privateKey = await decryptKey(parseKeyFile(text), passphrase, this.#derivation);
    try {
      return await this.importKey(privateKey, newPassphrase);
    } finally {
      privateKey.fill(0);
    }
  }

  /**
   * Text of a key file of `address`, re-encrypted with `newPassphrase`.
   * @throws UnknownKeyError, AmbiguousKeyError, LooseKeyFileError, WrongPassphraseError
   */
  async exportFile(address: Address, passphrase: string, newPassphrase: string): Promise<string> {
    const privateKey = await this.privateKey(address, passphrase);
    try {
      return await this.#encrypt(privateKey, newPassphrase);
    } finally {
      privateKey.fill(0);
    }
  }

  /**
   * The private key, 32 bytes that the caller owns and wipes.
   * @throws UnknownKeyError, AmbiguousKeyError, LooseKeyFileError, WrongPassphraseError
   */
  async privateKey(address: Address, passphrase: string): Promise<Uint8Array> {
    const { path } = await this.find(address);
    await this.#directory.assertPrivate(path);
    const file = parseKeyFile(await this.#directory.read(path));
    return decryptKey(file, passphrase, this.#derivation);
  }

  /**
   * Re-encrypts the key with another passphrase, in the same file.
   * @throws as privateKey
   */
  async changePassphrase(address: Address, passphrase: string, newPassphrase: string): Promise<void> {
    const { path } = await this.find(address);
    const text = await this.exportFile(address, passphrase, newPassphrase);
    await this.#directory.replace(path, text);
  }

  /**
   * Deletes the file permanently; the passphrase authenticates the caller.
   * @throws as privateKey
   */
  async delete(address: Address, passphrase: string): Promise<void> {
    const { path } = await this.find(address);
    (await this.privateKey(address, passphrase)).fill(0);
    await this.#directory.delete(path);
  }

  async #encrypt(privateKey: Uint8Array, passphrase: string): Promise<string> {
    const file = await encryptKey(privateKey, passphrase, this.#strength, this.#derivation);
    return renderKeyFile(file, randomUUID());
  }

  /** undefined: not a key file, or one that hides its address */
  async #addressIn(path: string): Promise<Address | undefined> {
    try {
      const { address } = parseKeyFile(await this.#directory.read(path));
      if (address === undefined) this.#log.warn("skipped a key file without an address", { path });
      return address;
    } catch (error) {
      this.#log.warn("skipped a file in the key store that is not a key", {
        path,
        error: (error as Error).message,
      });
      return undefined;
    }
  }
}
