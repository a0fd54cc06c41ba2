import {
  createCipheriv,
  createDecipheriv,
  createECDH,
  createHmac,
  ECDH,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { sha256 } from "../../base/crypto/hashes.ts";
import { recoverPublicKey, sign } from "../../base/crypto/secp256k1.ts";
import { bigintToFixedBytes, bytesToBigint, concatBytes } from "../../base/primitives/bytes.ts";
import { bytesToHex, type Hex } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { DecryptionError } from "./errors.ts";

/**
 * Whisper's ECIES, geth's `crypto/ecies` with AES-128 and without shared information:
 *
 *     R (65 bytes, SEC 1 uncompressed) ‖ iv 16 ‖ AES-128-CTR ciphertext ‖ HMAC-SHA256 tag 32
 *
 * The keys are derived from the x coordinate of the shared point by one round of the concatenation KDF of NIST SP 800-56A.
 */
const CURVE = "secp256k1";
const POINT_LENGTH = 65;
const IV_LENGTH = 16;
const TAG_LENGTH = 32;
const ECIES_OVERHEAD = POINT_LENGTH + IV_LENGTH + TAG_LENGTH;

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

/** Whether the bytes begin with a point on the curve, as no text does by chance. */
export function looksEncrypted(bytes: Uint8Array): boolean {
  return bytes.length >= ECIES_OVERHEAD && isPublicKey(bytes.subarray(0, POINT_LENGTH));
}

/** Whether `bytes` are 65 bytes of a point on the curve. */
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

/** A public key, 65 bytes as hex: a program's name for itself and others. */
export type Identity = Hex & { readonly __identity: never };

/**
 * The data of an envelope:
 *
 *     flags 1 (bit 7: signed, the others random) ‖ signature 65 if signed (r ‖ s ‖ v, v 0 or 1) ‖ payload, perhaps encrypted
 *
 * The signature is over keccak256(flags ‖ payload) before encryption and stays readable.
 */
const SIGNED = 0x80;
const SIGNATURE_LENGTH = 65;

export type OpenedMessage = {
  readonly payload: Uint8Array;
  /** The signer; undefined if the message is not signed */
  readonly from: Identity | undefined;
  /** The identity for which it was encrypted; undefined: not encrypted */
  readonly to: Identity | undefined;
};

export type Key = { readonly identity: Identity; readonly privateKey: Uint8Array };

export function identityFromBytes(publicKey: Uint8Array): Identity {
  return bytesToHex(publicKey) as Identity;
}

export function wrapMessage(message: {
  readonly payload: Uint8Array;
  readonly from: Key | undefined;
  /** 65 bytes */
  readonly to: Uint8Array | undefined;
}): Uint8Array {
  const { payload, from, to } = message;
  const random = randomBytes(1)[0]!;
  const flags = Uint8Array.of(from === undefined ? random & ~SIGNED : random | SIGNED);
  const signature = from ? signPayload(flags, payload, from.privateKey) : new Uint8Array(0);
  return concatBytes(flags, signature, to === undefined ? payload : encryptEcies(to, payload));
}

/** The message in `data`; undefined if none of `keys` decrypts it, or its signature is invalid. */
export function openMessage(data: Uint8Array, keys: Iterable<Key>): OpenedMessage | undefined {
  const isSigned = (data[0]! & SIGNED) !== 0;
  const start = isSigned ? 1 + SIGNATURE_LENGTH : 1;
  if (data.length < start) return undefined;
  const body = data.subarray(start);
  const decrypted = looksEncrypted(body) ? decryptWith(body, keys) : { payload: body };
  if (decrypted === undefined) return undefined;
  const { payload, to } = decrypted;
  if (!isSigned) return { payload, from: undefined, to };
  const from = signerOf(data.subarray(0, 1), data.subarray(1, start), payload);
  return from && { payload, from, to };
}

function decryptWith(
  body: Uint8Array,
  keys: Iterable<Key>,
): { readonly payload: Uint8Array; readonly to?: Identity } | undefined {
  for (const { identity, privateKey } of keys) {
    try {
      return { payload: decryptEcies(privateKey, body), to: identity };
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
    }
  }
  return undefined;
}

function signPayload(flags: Uint8Array, payload: Uint8Array, privateKey: Uint8Array): Uint8Array {
  const { r, s, yParity } = sign(keccak256(concatBytes(flags, payload)), privateKey);
  return concatBytes(bigintToFixedBytes(r, 32), bigintToFixedBytes(s, 32), Uint8Array.of(yParity));
}

function signerOf(flags: Uint8Array, signature: Uint8Array, payload: Uint8Array): Identity | undefined {
  const v = signature[64]!;
  if (v > 1) return undefined;
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32, 64)].map(bytesToBigint);
  const digest = keccak256(concatBytes(flags, payload));
  const publicKey = recoverPublicKey(digest, r!, s!, v as 0 | 1);
  return publicKey && identityFromBytes(concatBytes(Uint8Array.of(4), publicKey));
}
