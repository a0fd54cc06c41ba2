import { createCipheriv, createDecipheriv, randomBytes, timingSafeEqual } from "node:crypto";
import { addressFromPrivateKey, isPrivateKey } from "../crypto/secp256k1.ts";
import { concatBytes } from "../primitives/bytes.ts";
import { keccak256 } from "../primitives/keccak.ts";
import { InvalidKeyFileError, KeyMismatchError, WrongPassphraseError } from "./errors.ts";
import type { KeyDerivation } from "./key-derivation.ts";
import type { KdfParams, KeyFile } from "./key-file.ts";

/** geth's two costs of trying a passphrase: 256 MiB and a second, or 4 MiB and a tenth. */
export type KeyStrength = "standard" | "light";

/** scrypt costs by strength. */
export const SCRYPT: Readonly<Record<KeyStrength, { n: number; r: number; p: number }>> = {
  standard: { n: 2 ** 18, r: 8, p: 1 },
  light: { n: 2 ** 12, r: 8, p: 6 },
};

/**
 * `privateKey` encrypted with `passphrase`, as a version 3 file with fresh salt and iv.
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
 * The private key of `file`, 32 bytes the caller owns and wipes.
 * @throws WrongPassphraseError, KeyMismatchError, InvalidKeyFileError, KeyDerivationBusyError
 */
export async function decryptKey(
  file: KeyFile,
  passphrase: string,
  derivation: KeyDerivation,
): Promise<Uint8Array> {
  const derived = await derivation.derive(passphrase, file.params);
  try {
    if (!timingSafeEqual(macOf(derived, file.ciphertext), file.mac))
      throw new WrongPassphraseError();
    const privateKey = decipher(file, derived);
    // The MAC covers the ciphertext alone, so a damaged iv ends up here.
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
  // Version 1 hashed the key once more.
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
