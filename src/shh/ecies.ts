import {
  createCipheriv,
  createDecipheriv,
  createECDH,
  createHmac,
  ECDH,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { sha256 } from "../crypto/hashes.ts";
import { concatBytes } from "../primitives/bytes.ts";
import { DecryptionError } from "./errors.ts";

/**
 * The ECIES of Whisper, geth's `crypto/ecies` with AES-128 and no shared information:
 *
 *     R (65 bytes, SEC 1 uncompressed) ‖ iv 16 ‖ AES-128-CTR ciphertext ‖ HMAC-SHA256 tag 32
 *
 * The keys come of the x coordinate of the shared point by one round of the concatenation KDF of NIST SP 800-56A.
 */
const CURVE = "secp256k1";
const POINT_LENGTH = 65;
const IV_LENGTH = 16;
const TAG_LENGTH = 32;
export const ECIES_OVERHEAD = POINT_LENGTH + IV_LENGTH + TAG_LENGTH;

/** @param publicKey 65 bytes, a point of the curve */
export function encryptEcies(publicKey: Uint8Array, plaintext: Uint8Array): Uint8Array {
  const ephemeral = createECDH(CURVE);
  const point = ephemeral.generateKeys();
  const { key, macKey } = keysOf(ephemeral.computeSecret(publicKey));
  const iv = randomBytes(IV_LENGTH);
  const cipher = createCipheriv("aes-128-ctr", key, iv);
  const body = concatBytes(iv, cipher.update(plaintext), cipher.final());
  return concatBytes(point, body, tagOf(macKey, body));
}

/** @throws DecryptionError */
export function decryptEcies(privateKey: Uint8Array, ciphertext: Uint8Array): Uint8Array {
  if (!looksEncrypted(ciphertext)) throw new DecryptionError("not encrypted");
  const ecdh = createECDH(CURVE);
  ecdh.setPrivateKey(privateKey);
  const { key, macKey } = keysOf(ecdh.computeSecret(ciphertext.subarray(0, POINT_LENGTH)));
  const body = ciphertext.subarray(POINT_LENGTH, ciphertext.length - TAG_LENGTH);
  if (!timingSafeEqual(tagOf(macKey, body), ciphertext.subarray(ciphertext.length - TAG_LENGTH))) {
    throw new DecryptionError("not encrypted for this identity");
  }
  const decipher = createDecipheriv("aes-128-ctr", key, body.subarray(0, IV_LENGTH));
  return concatBytes(decipher.update(body.subarray(IV_LENGTH)), decipher.final());
}

/** True when the bytes begin with a point of the curve, as no text does by chance. */
export function looksEncrypted(bytes: Uint8Array): boolean {
  return bytes.length >= ECIES_OVERHEAD && isPublicKey(bytes.subarray(0, POINT_LENGTH));
}

/** True for 65 bytes of a point of the curve. */
export function isPublicKey(bytes: Uint8Array): boolean {
  if (bytes.length !== POINT_LENGTH || bytes[0] !== 4) return false;
  try {
    ECDH.convertKey(bytes, CURVE);
    return true;
  } catch {
    return false;
  }
}

function keysOf(shared: Uint8Array): { readonly key: Uint8Array; readonly macKey: Uint8Array } {
  const derived = sha256(concatBytes(Uint8Array.of(0, 0, 0, 1), shared));
  return { key: derived.subarray(0, 16), macKey: sha256(derived.subarray(16)) };
}

function tagOf(macKey: Uint8Array, body: Uint8Array): Uint8Array {
  return createHmac("sha256", macKey).update(body).digest();
}
