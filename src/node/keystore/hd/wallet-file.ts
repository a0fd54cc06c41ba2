import { randomBytes } from "node:crypto";
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { AES_GCM_OVERHEAD, decryptAesGcm, encryptAesGcm } from "../../../base/crypto/aes-gcm.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { hexDigits } from "../../../base/primitives/hex.ts";
import { ifPresent } from "../../../store/storage/if-present.ts";
import { makeFolder } from "../../../store/storage/make-folder.ts";
import { readTextFile, UnusableFileError } from "../../../store/storage/read-file.ts";
import { replaceFile } from "../../../store/storage/replace-file.ts";
import { InvalidKeyFileError, LooseKeyFileError, WrongPassphraseError } from "../errors.ts";
import { type KeyStrength, SCRYPT } from "../key-file.ts";
import type { KeyDerivation } from "../passphrases.ts";

/** Room for about ten thousand accounts. */
const WALLET_FILE_BYTES_MAX = 4 << 20;

/** Bytes encrypted with AES-256-GCM: nonce ‖ ciphertext ‖ tag, as hex. */
type Box = string;

/** A box encrypted with a key that scrypt derives from a passphrase. */
export type Seal = {
  readonly n: number;
  readonly r: number;
  readonly p: number;
  /** hex */
  readonly salt: string;
  readonly box: Box;
};

export function closeBox(secret: Uint8Array, key: Uint8Array): Box {
  return hexDigits(encryptAesGcm(secret, key));
}

/** The bytes in `box`; undefined if `key` is wrong. The caller owns and wipes them. */
export function openBox(box: Box, key: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(box, "hex");
  if (bytes.length < AES_GCM_OVERHEAD) throw new InvalidKeyFileError("box too short");
  return decryptAesGcm(bytes, key);
}

/** @throws KeyDerivationBusyError */
export async function seal(
  secret: Uint8Array,
  passphrase: string,
  strength: KeyStrength,
  derivation: KeyDerivation,
): Promise<Seal> {
  const cost = SCRYPT[strength];
  const salt = randomBytes(32);
  const key = await derivation.derive(passphrase, { kdf: "scrypt", ...cost, dklen: 32, salt });
  try {
    return { ...cost, salt: salt.toString("hex"), box: closeBox(secret, key) };
  } finally {
    key.fill(0);
  }
}

/** @throws WrongPassphraseError, KeyDerivationBusyError */
export async function unseal(
  { n, r, p, salt, box }: Seal,
  passphrase: string,
  derivation: KeyDerivation,
): Promise<Uint8Array> {
  const params = { kdf: "scrypt", n, r, p, dklen: 32, salt: Buffer.from(salt, "hex") } as const;
  const key = await derivation.derive(passphrase, params);
  try {
    const secret = openBox(box, key);
    if (secret === undefined) throw new WrongPassphraseError();
    return secret;
  } finally {
    key.fill(0);
  }
}

/** A wallet on disk. The master key decrypts `entropy`; it is sealed twice, with the PIN and with the PUK. */
export type WalletFile = {
  readonly version: 1;
  /** Verifies the pairing password; encrypts nothing. */
  readonly pairing: Seal;
  readonly pin: Seal | null;
  readonly puk: Seal | null;
  readonly pinTriesLeft: number;
  readonly pukTriesLeft: number;
  readonly entropy: Box | null;
  /** Path by account. */
  readonly accounts: Readonly<Record<Address, string>>;
};

const ID = /^[a-z0-9-]{1,32}$/;

export function isWalletId(id: string): boolean {
  return ID.test(id);
}

/** The folder of HD wallets: one state file each, the pairings of this node, and the secrets of new wallets, which their owners should move away. */
export class WalletDirectory {
  readonly #path: string;
  readonly #allowReadableByOthers: boolean;

  constructor(path: string, options: { readonly allowReadableByOthers: boolean }) {
    this.#path = path;
    this.#allowReadableByOthers = options.allowReadableByOthers;
  }

  /** Ids of all wallets, ascending. */
  ids(): string[] {
    const names = ifPresent(() => readdirSync(this.#path)) ?? [];
    return names
      .filter((name) => name.endsWith(".json"))
      .map((name) => name.slice(0, -".json".length))
      .filter((id) => isWalletId(id) && id !== PAIRINGS)
      .sort();
  }

  /** @throws InvalidKeyFileError, LooseKeyFileError */
  read(id: string): WalletFile | undefined {
    const file = this.#readJson(`${id}.json`) as WalletFile | undefined;
    if (file !== undefined && file.version !== 1) {
      throw new InvalidKeyFileError("wallet version is not 1");
    }
    return file;
  }

  write(id: string, file: WalletFile): void {
    this.#replace(`${id}.json`, JSON.stringify(file));
  }

  /** Pairing passwords by wallet. They entitle this node to ask the wallet for its PIN. */
  pairings(): Readonly<Record<string, string>> {
    return (this.#readJson(`${PAIRINGS}.json`) as Record<string, string> | undefined) ?? {};
  }

  writePairings(pairings: Readonly<Record<string, string>>): void {
    this.#replace(`${PAIRINGS}.json`, JSON.stringify(pairings));
  }

  /** Writes a wallet's secrets to a file for its owner. @returns the path */
  writeSecrets(id: string, text: string): string {
    const name = `${id}.secrets.txt`;
    this.#replace(name, text);
    return join(this.#path, name);
  }

  #readJson(name: string): unknown {
    const path = join(this.#path, name);
    const mode = ifPresent(() => lstatSync(path).mode & 0o777);
    const text = ifPresent(() => readText(path));
    if (mode === undefined || text === undefined) return undefined;
    const isLoose = process.platform !== "win32" && (mode & 0o077) !== 0;
    if (isLoose && !this.#allowReadableByOthers) throw new LooseKeyFileError(path, mode);
    try {
      return JSON.parse(text);
    } catch {
      // Omits the cause: JSON.parse quotes the text.
      throw new InvalidKeyFileError(`${name} is not JSON`);
    }
  }

  /** A crash leaves the old or the new file; durable when it returns. */
  #replace(name: string, text: string): void {
    makeFolder(this.#path);
    chmodSync(this.#path, 0o700);
    replaceFile(join(this.#path, name), text, 0o600);
  }
}

/** File of the pairings; not a valid wallet id. */
const PAIRINGS = "pairings";

/** @throws InvalidKeyFileError */
function readText(path: string): string {
  try {
    return readTextFile(path, { bytesMax: WALLET_FILE_BYTES_MAX, refuseLinks: true });
  } catch (error) {
    if (error instanceof UnusableFileError) throw new InvalidKeyFileError(error.message);
    throw error;
  }
}
