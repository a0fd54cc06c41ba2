import {
  addressFromPublicKey,
  recoverAddress,
  recoverPublicKeys,
  SECP256K1_HALF_ORDER,
} from "../../crypto/secp256k1.ts";
import type { SignedDigest } from "../../crypto/secp256k1-backend.ts";
import { NodeError } from "../../errors.ts";
import type { Hardfork } from "../../params/hardforks.ts";
import type { Address } from "../../primitives/address.ts";
import { InvalidSignatureError, SenderRecoveryError } from "./codec.ts";
import { decodeTransaction } from "./decode.ts";
import { authorizationHash } from "./sign.ts";
import { readSignedDigest } from "./signed-digest.ts";
import type { Authorization, Transaction } from "./transaction.ts";

/**
 * The account that signed `tx`, by the rules of `hardfork`. Whether `tx.chainId` is the chain's own is the caller's check.
 * @throws TransactionTypeNotSupportedError for a type the fork does not know; InvalidSignatureError for a bad v, r or s,
 *   a high s from Homestead on (EIP-2) and a replay-protected v before Spurious Dragon (EIP-155); SenderRecoveryError
 */
export function recoverSender(tx: Transaction, hardfork: Hardfork = "osaka"): Address {
  return addressFromPublicKey(recoverSenderKey(tx, hardfork));
}

/**
 * The accounts that signed the first of `transactions`, up to one for which `recoverSender` throws: that tells why. A batch takes
 * less time than its transactions one after the other.
 */
export function recoverSenders(transactions: readonly Transaction[], hardfork: Hardfork = "osaka"): Address[] {
  const keys = recoverSenderKeys(
    transactions.map(({ raw }) => raw),
    hardfork,
  );
  return keys.map(addressFromPublicKey);
}

/** As `recoverSenders`, of transactions in canonical form, which need not be decoded; gives public keys of 64 bytes. */
export function recoverSenderKeys(transactions: readonly Uint8Array[], hardfork: Hardfork): Uint8Array[] {
  const signed: SignedDigest[] = [];
  try {
    for (const raw of transactions) {
      const each = readSignedDigest(raw, hardfork);
      if (each === undefined) break;
      signed.push(each);
    }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
  }
  const keys: Uint8Array[] = [];
  for (const key of recoverPublicKeys(signed)) {
    if (key === undefined) break;
    keys.push(key);
  }
  return keys;
}

/** The public key that signed `tx`, 64 bytes. @throws as `recoverSender` */
export function recoverSenderKey({ raw, v, r, s }: Transaction, hardfork: Hardfork = "osaka"): Uint8Array {
  const signed = readSignedDigest(raw, hardfork);
  if (signed === undefined) throw new InvalidSignatureError({ v, r, s });
  const [key] = recoverPublicKeys([signed]);
  if (key === undefined) throw new SenderRecoveryError();
  return key;
}

/** A cache, because pool, execution and index ask for the same senders; null for invalid signatures. */
const knownAuthorities = new WeakMap<Authorization, Address | null>();

/**
 * The account that signed an EIP-7702 authorization, or undefined where the tuple has none: yParity beyond 1, a high s,
 * r or s out of range. An authorization without authority is skipped, never an error.
 */
export function recoverAuthority(authorization: Authorization): Address | undefined {
  let authority = knownAuthorities.get(authorization);
  if (authority === undefined) {
    authority = signerOf(authorization) ?? null;
    knownAuthorities.set(authorization, authority);
  }
  return authority ?? undefined;
}

/** For a set code transaction by its canonical bytes, the signer of each authorization, undefined for one without. @throws as `decodeTransaction` */
export function recoverAuthorities(raw: Uint8Array): readonly (Address | undefined)[] {
  const tx = decodeTransaction(raw);
  return tx.type === 4 ? tx.authorizationList.map(recoverAuthority) : [];
}

/** Spares `recoverAuthority` the work: another thread has recovered `authorities`, one for each of `list`. */
export function noteAuthorities(list: readonly Authorization[], authorities: readonly (Address | undefined)[]): void {
  for (const [i, authorization] of list.entries()) knownAuthorities.set(authorization, authorities[i] ?? null);
}

function signerOf(authorization: Authorization): Address | undefined {
  const { yParity, r, s } = authorization;
  if (yParity > 1n || s > SECP256K1_HALF_ORDER) return undefined;
  return recoverAddress(authorizationHash(authorization), r, s, Number(yParity) as 0 | 1);
}
