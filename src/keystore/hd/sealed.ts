import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { type KeyStrength, SCRYPT } from "../encryption.ts";
import { InvalidKeyFileError, WrongPassphraseError } from "../errors.ts";
import type { KeyDerivation } from "../key-derivation.ts";

/** Bytes under AES-256-GCM: nonce ‖ ciphertext ‖ tag, as hex. */
export type Box = string;

/** A box whose key is a passphrase under scrypt. */
export type Seal = {
  readonly n: number;
  readonly r: number;
  readonly p: number;
  /** hex */
  readonly salt: string;
  readonly box: Box;
};

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function closeBox(secret: Uint8Array, key: Uint8Array): Box {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const bytes = [nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(bytes).toString("hex");
}

/** The bytes in `box`; undefined when `key` does not fit. The caller owns and wipes them. */
export function openBox(box: Box, key: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(box, "hex");
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new InvalidKeyFileError("box too short");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    decipher.final();
    return plain;
  } catch {
    plain.fill(0);
    return undefined;
  }
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
