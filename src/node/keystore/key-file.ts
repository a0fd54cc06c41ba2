import { createCipheriv, createDecipheriv, randomBytes, timingSafeEqual } from "node:crypto";
import { addressFromPrivateKey, isPrivateKey } from "../../base/crypto/secp256k1.ts";
import { type Address, parseAddress } from "../../base/primitives/address.ts";
import { concatBytes } from "../../base/primitives/bytes.ts";
import { type Hex, hexToBytes } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { isJsonObject } from "../../base/primitives/shape.ts";
import { InvalidKeyFileError, KeyMismatchError, WrongPassphraseError } from "./errors.ts";
import type { KdfParams, KeyDerivation } from "./passphrases.ts";

/** An encrypted private key: Web3 Secret Storage, version 3 or (old geth) 1. */
export type KeyFile = {
  readonly version: 1 | 3;
  /** Absent in files that hide it. */
  readonly address: Address | undefined;
  readonly cipher: "aes-128-ctr" | "aes-128-cbc";
  readonly iv: Uint8Array;
  readonly ciphertext: Uint8Array;
  /** 32 bytes */
  readonly mac: Uint8Array;
  readonly params: KdfParams;
};

/** A key file is half a kilobyte. */
export const KEY_FILE_BYTES_MAX = 64 * 1024;

// Bounds against files made to stop the node. geth's standard file needs 256 MiB and N·r·p = 2^21; the heaviest files that wallets have written
// take eight times as long.
const SCRYPT_BYTES_MAX = 512 * 2 ** 20;
const SCRYPT_WORK_MAX = 2 ** 24;
const PBKDF2_ROUNDS_MAX = 10_000_000;
const SALT_BYTES_MAX = 1024;

/**
 * Parses the JSON of a key file and checks that decrypting it is affordable.
 * @throws InvalidKeyFileError
 */
export function parseKeyFile(text: string): KeyFile {
  if (text.length > KEY_FILE_BYTES_MAX) throw new InvalidKeyFileError("too large");
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    // JSON.parse quotes the text on failure, and the text may be a private key given by mistake.
    throw new InvalidKeyFileError("not JSON", { cause: (cause as Error).name });
  }
  const file = asObject(json, "file");
  // geth writes version 1 as a string.
  const version = file["version"] === "1" ? 1 : file["version"];
  if (version !== 3 && version !== 1) throw new InvalidKeyFileError("version is not 3 or 1");
  // MyEtherWallet wrote a capital letter.
  const crypto = asObject(file["crypto"] ?? file["Crypto"], "crypto");
  const cipher = version === 3 ? "aes-128-ctr" : "aes-128-cbc";
  // Version 1 files omit it or have aes-128-cbc.
  if ((crypto["cipher"] ?? cipher) !== cipher) {
    throw new InvalidKeyFileError(`cipher is not ${cipher}`);
  }
  return {
    version,
    address: addressOf(file["address"]),
    cipher,
    iv: asBytes(asObject(crypto["cipherparams"], "cipherparams")["iv"], "iv", 16, 16),
    ciphertext: asBytes(crypto["ciphertext"], "ciphertext", 32, 48),
    mac: asBytes(crypto["mac"], "mac", 32, 32),
    params: kdfParamsOf(crypto["kdf"], asObject(crypto["kdfparams"], "kdfparams")),
  };
}

/** The JSON that geth writes: version 3, hex without prefix. */
export function renderKeyFile(file: KeyFile, id: string): string {
  const { params } = file;
  const { kdf, salt, ...numbers } = params;
  return JSON.stringify({
    ...(file.address && { address: file.address.slice(2) }),
    crypto: {
      cipher: file.cipher,
      ciphertext: digits(file.ciphertext),
      cipherparams: { iv: digits(file.iv) },
      kdf,
      kdfparams: {
        ...numbers,
        ...(kdf === "pbkdf2" && { prf: "hmac-sha256" }),
        salt: digits(salt),
      },
      mac: digits(file.mac),
    },
    id,
    version: file.version,
  });
}

function kdfParamsOf(kdf: unknown, params: Readonly<Record<string, unknown>>): KdfParams {
  const salt = asBytes(params["salt"], "salt", 0, SALT_BYTES_MAX);
  const dklen = asInteger(params["dklen"], "dklen", 32, 64);
  if (kdf === "pbkdf2") {
    if (params["prf"] !== "hmac-sha256") throw new InvalidKeyFileError("prf is not hmac-sha256");
    return { kdf, c: asInteger(params["c"], "c", 1, PBKDF2_ROUNDS_MAX), dklen, salt };
  }
  if (kdf !== "scrypt") throw new InvalidKeyFileError("kdf is not scrypt or pbkdf2");
  const n = asInteger(params["n"], "n", 2, 2 ** 30);
  const r = asInteger(params["r"], "r", 1, 2 ** 20);
  const p = asInteger(params["p"], "p", 1, 2 ** 20);
  if (!Number.isInteger(Math.log2(n))) throw new InvalidKeyFileError("n is not a power of two");
  if (128 * r * (n + p) > SCRYPT_BYTES_MAX) throw new InvalidKeyFileError("n and r need too much memory");
  if (n * r * p > SCRYPT_WORK_MAX) throw new InvalidKeyFileError("n, r and p take too long");
  return { kdf, n, r, p, dklen, salt };
}

function addressOf(value: unknown): Address | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  try {
    return parseAddress(`0x${String(value).replace(/^0x/, "")}`);
  } catch (cause) {
    throw new InvalidKeyFileError("address is not 20 bytes of hex", { cause });
  }
}

function asObject(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) {
    throw new InvalidKeyFileError(`${name} is not an object`);
  }
  return value;
}

function asInteger(value: unknown, name: string, min: number, max: number): number {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
    throw new InvalidKeyFileError(`${name} is not a whole number from ${min} to ${max}`);
  }
  return value as number;
}

function asBytes(value: unknown, name: string, min: number, max: number): Uint8Array {
  if (typeof value !== "string" || !/^(?:[0-9a-fA-F]{2})*$/.test(value)) {
    throw new InvalidKeyFileError(`${name} is not hex`);
  }
  const length = value.length / 2;
  if (length < min || length > max) throw new InvalidKeyFileError(`${name} has ${length} bytes`);
  return hexToBytes(`0x${value}` as Hex);
}

function digits(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** geth's two costs per passphrase guess: 256 MiB and a second, or 4 MiB and a tenth. */
export type KeyStrength = "standard" | "light";

export const SCRYPT: Readonly<Record<KeyStrength, { n: number; r: number; p: number }>> = {
  standard: { n: 2 ** 18, r: 8, p: 1 },
  light: { n: 2 ** 12, r: 8, p: 6 },
};

/**
 * Encrypts `privateKey` with `passphrase`, as a version 3 file with fresh salt and iv.
 * @throws InvalidPrivateKeyError, KeyDerivationBusyError
 */
export async function encryptKey(
  privateKey: Uint8Array,
  passphrase: string,
  strength: KeyStrength,
  derivation: KeyDerivation,
): Promise<KeyFile> {
  const address = addressFromPrivateKey(privateKey);
  const params: KdfParams = {
    kdf: "scrypt",
    ...SCRYPT[strength],
    dklen: 32,
    salt: randomBytes(32),
  };
  const derived = await derivation.derive(passphrase, params);
  const iv = randomBytes(16);
  const cipher = createCipheriv("aes-128-ctr", derived.subarray(0, 16), iv);
  const ciphertext = concatBytes(cipher.update(privateKey), cipher.final());
  const mac = macOf(derived, ciphertext);
  derived.fill(0);
  return { version: 3, address, cipher: "aes-128-ctr", iv, ciphertext, mac, params };
}

/**
 * The private key of `file`, 32 bytes that the caller owns and wipes.
 * @throws WrongPassphraseError, KeyMismatchError, InvalidKeyFileError, KeyDerivationBusyError
 */
export async function decryptKey(file: KeyFile, passphrase: string, derivation: KeyDerivation): Promise<Uint8Array> {
  const derived = await derivation.derive(passphrase, file.params);
  try {
    if (!timingSafeEqual(macOf(derived, file.ciphertext), file.mac)) throw new WrongPassphraseError();
    const privateKey = decipher(file, derived);
    // The MAC covers only the ciphertext, so a damaged iv ends up here.
    if (!isPrivateKey(privateKey)) throw new InvalidKeyFileError("it holds no private key");
    const have = addressFromPrivateKey(privateKey);
    const want = file.address ?? have;
    if (have !== want) throw new KeyMismatchError({ have, want });
    return privateKey;
  } finally {
    derived.fill(0);
  }
}

function decipher({ version, cipher, iv, ciphertext }: KeyFile, derived: Uint8Array): Uint8Array {
  const half = derived.subarray(0, 16);
  // Version 1 hashed the key a second time.
  const key = version === 3 ? half : keccak256(half).subarray(0, 16);
  const plain = createDecipheriv(cipher, key, iv);
  try {
    return concatBytes(plain.update(ciphertext), plain.final());
  } catch (cause) {
    throw new InvalidKeyFileError("its padding is invalid", { cause });
  }
}

function macOf(derived: Uint8Array, ciphertext: Uint8Array): Uint8Array {
  return keccak256(concatBytes(derived.subarray(16, 32), ciphertext));
}
