import { randomBytes } from "node:crypto";
import { recoverPublicKey, sign } from "../crypto/secp256k1.ts";
import { bigintToFixedBytes, bytesToBigint, concatBytes } from "../primitives/bytes.ts";
import { bytesToHex, type Hex } from "../primitives/hex.ts";
import { keccak256 } from "../primitives/keccak.ts";
import { decryptEcies, encryptEcies, looksEncrypted } from "./ecies.ts";
import { DecryptionError } from "./errors.ts";

/** A public key, 65 bytes as hex: how a program names itself and others. */
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
  /** Who signed it; undefined: nobody */
  readonly from: Identity | undefined;
  /** The identity it was encrypted for; undefined: it was not */
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

/** The message in `data`; undefined when it is for none of `keys`, or its signature is none. */
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

function signerOf(
  flags: Uint8Array,
  signature: Uint8Array,
  payload: Uint8Array,
): Identity | undefined {
  const v = signature[64]!;
  if (v > 1) return undefined;
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32, 64)].map(bytesToBigint);
  const digest = keccak256(concatBytes(flags, payload));
  const publicKey = recoverPublicKey(digest, r!, s!, v as 0 | 1);
  return publicKey && identityFromBytes(concatBytes(Uint8Array.of(4), publicKey));
}
