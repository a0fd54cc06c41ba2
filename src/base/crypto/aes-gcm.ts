import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { concatBytes } from "../primitives/bytes.ts";

const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;
/** Bytes that encryption adds. */
export const AES_GCM_OVERHEAD = NONCE_LENGTH + TAG_LENGTH;

/** AES-256-GCM with a random nonce: nonce 12 ‖ ciphertext ‖ tag 16. */
export function encryptAesGcm(plaintext: Uint8Array, key: Uint8Array): Uint8Array {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  return concatBytes(nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag());
}

/** The plaintext of an `encryptAesGcm` result, for the caller to wipe; undefined if the key is wrong or the bytes were changed. */
export function decryptAesGcm(sealed: Uint8Array, key: Uint8Array): Uint8Array | undefined {
  const end = sealed.length - TAG_LENGTH;
  if (sealed.length < AES_GCM_OVERHEAD) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_LENGTH));
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(NONCE_LENGTH, end));
  try {
    decipher.final();
    return plain;
  } catch {
    plain.fill(0);
    return undefined;
  }
}
