import { hasLowS, hasScalars } from "../../crypto/secp256k1.ts";
import type { SignedDigest } from "../../crypto/secp256k1-backend.ts";
import { type Hardfork, RULES_AT } from "../../params/hardforks.ts";
import { bigintToBytes, readBigint } from "../../primitives/bytes.ts";
import { keccak256 } from "../../primitives/keccak.ts";
import { encodeRlp, rlpItemEnd, rlpListBounds, rlpListLength, writeRlpListPrefix } from "../../primitives/rlp.ts";
import { TransactionTypeNotSupportedError } from "./codec.ts";
import { chainIdFromV } from "./legacy.ts";
import { isTransactionTypeSupported, type Transaction } from "./transaction.ts";

/** Fields before the signature, by type. */
const FIELD_COUNT: Readonly<Record<Transaction["type"], number>> = {
  0: 6,
  1: 8,
  2: 9,
  3: 11,
  4: 10,
};

const EMPTY_STRINGS = [0x80, 0x80] as const;

/**
 * The signed digest and signature of a transaction, read from its canonical form `raw` without decoding it: fields stay encoded, and r and s
 * stay bytes. undefined if v, r or s is out of range under the rules of `hardfork`, see `recoverSender`.
 * @param raw if decoding would find another fault than the signature's, the result is meaningless
 * @throws TransactionTypeNotSupportedError, InvalidRlpError
 */
export function readSignedDigest(raw: Uint8Array, hardfork: Hardfork): SignedDigest | undefined {
  const type = (raw[0]! >= 0xc0 ? 0 : raw[0]!) as Transaction["type"];
  if (!isTransactionTypeSupported(type, hardfork)) throw new TransactionTypeNotSupportedError(type);
  const { start } = rlpListBounds(raw, type === 0 ? 0 : 1);
  const end = rlpItemEnd(raw, start, FIELD_COUNT[type]);
  const rStart = rlpItemEnd(raw, end);
  const v = readBigint(raw, contentStart(raw, end), rStart);
  const chainId = type === 0 ? chainIdFromV(v) : undefined;
  if (chainId !== undefined && !RULES_AT[hardfork].spuriousDragon) return undefined;
  const yParity = parityIn(type, v, chainId);
  if (yParity === undefined) return undefined;

  const sStart = rlpItemEnd(raw, rStart);
  const r = raw.subarray(contentStart(raw, rStart), sStart);
  const s = raw.subarray(contentStart(raw, sStart));
  if (r.length > 32 || s.length > 32) return undefined;
  const signature = new Uint8Array(64);
  signature.set(r, 32 - r.length);
  signature.set(s, 64 - s.length);
  const signed = { digest: signedHash(type, raw.subarray(start, end), chainId), signature, yParity };
  const isInRange = hasScalars(signed) && (hasLowS(signed) || !RULES_AT[hardfork].homestead);
  return isInRange ? signed : undefined;
}

function contentStart(raw: Uint8Array, offset: number): number {
  return raw[offset]! < 0x80 ? offset : offset + 1;
}

/** Parity of the signature's point, from the type's form of `v`; undefined if `v` is invalid. */
function parityIn(type: Transaction["type"], v: bigint, chainId: bigint | undefined): 0 | 1 | undefined {
  if (type !== 0) return asBit(v);
  return asBit(chainId === undefined ? v - 27n : v - 35n - 2n * chainId);
}

function asBit(value: bigint): 0 | 1 | undefined {
  if (value === 0n) return 0;
  return value === 1n ? 1 : undefined;
}

/**
 * The 32 bytes that a sender signs, from the encoded `fields`.
 * @param chainId of a legacy transaction under EIP-155
 */
function signedHash(type: Transaction["type"], fields: Uint8Array, chainId: bigint | undefined): Uint8Array {
  const protection = chainId === undefined ? [] : [...encodeRlp(bigintToBytes(chainId)), ...EMPTY_STRINGS];
  const length = fields.length + protection.length;
  const typeLength = type === 0 ? 0 : 1;
  const message = new Uint8Array(typeLength + rlpListLength(length));
  if (type !== 0) message[0] = type;
  const start = writeRlpListPrefix(length, message, typeLength);
  message.set(fields, start);
  message.set(protection, start + fields.length);
  return keccak256(message);
}
