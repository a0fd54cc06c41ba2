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
 * The account that signed `tx`, by the rules of `hardfork`. Callers must compare `tx.chainId` with the chain's own.
 * @throws TransactionTypeNotSupportedError for a type unknown to the fork; InvalidSignatureError for an invalid v, r or s, a high s from
 * Homestead on (EIP-2) and a replay-protected v before Spurious Dragon (EIP-155); SenderRecoveryError
 */
export function recoverSender(tx: Transaction, hardfork: Hardfork = "osaka"): Address {
  return addressFromPublicKey(recoverSenderKey(tx, hardfork));
}

/**
 * The accounts that signed the first of `transactions`, up to the first for which `recoverSender` throws. A batch takes less time than its
 * transactions one after the other.
 */
export function recoverSenders(transactions: readonly Transaction[], hardfork: Hardfork = "osaka"): Address[] {
  const keys = recoverSenderKeys(
    transactions.map(({ raw }) => raw),
    hardfork,
  );
  return keys.map(addressFromPublicKey);
}

/** Like `recoverSenders`, for undecoded transactions in canonical form; returns public keys of 64 bytes. */
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

/** Caches signers, because pool, execution and index need the same ones; null for invalid signatures. */
const knownAuthorities = new WeakMap<Authorization, Address | null>();

/**
 * The account that signed an EIP-7702 authorization; undefined for an invalid tuple: yParity above 1, a high s, r or s out of range. An invalid
 * authorization is skipped and never an error.
 */
export function recoverAuthority(authorization: Authorization): Address | undefined {
  let authority = knownAuthorities.get(authorization);
  if (authority === undefined) {
    authority = signerOf(authorization) ?? null;
    knownAuthorities.set(authorization, authority);
  }
  return authority ?? undefined;
}

/** The signer of each authorization of a set code transaction in canonical form, undefined for invalid ones. @throws as `decodeTransaction` */
export function recoverAuthorities(raw: Uint8Array): readonly (Address | undefined)[] {
  const tx = decodeTransaction(raw);
  return tx.type === 4 ? tx.authorizationList.map(recoverAuthority) : [];
}

/** Stores `authorities`, which another thread has recovered for `list`, for `recoverAuthority`. */
export function noteAuthorities(list: readonly Authorization[], authorities: readonly (Address | undefined)[]): void {
  for (const [i, authorization] of list.entries()) knownAuthorities.set(authorization, authorities[i] ?? null);
}

function signerOf(authorization: Authorization): Address | undefined {
  const { yParity, r, s } = authorization;
  if (yParity > 1n || s > SECP256K1_HALF_ORDER) return undefined;
  return recoverAddress(authorizationHash(authorization), r, s, Number(yParity) as 0 | 1);
}
