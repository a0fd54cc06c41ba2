import {
  addressFromPublicKey,
  recoverAddress,
  recoverPublicKeys,
  SECP256K1_HALF_ORDER,
  SECP256K1_ORDER,
} from "../../crypto/secp256k1.ts";
import type { SignedDigest } from "../../crypto/secp256k1-backend.ts";
import { NodeError } from "../../errors.ts";
import { type Hardfork, isAtLeast } from "../../params/hardforks.ts";
import type { Address } from "../../primitives/address.ts";
import { InvalidSignatureError, SenderRecoveryError, TransactionTypeNotSupportedError } from "./codec.ts";
import { decodeTransaction } from "./decode.ts";
import { authorizationHash, signedHash } from "./sign.ts";
import { type Authorization, isTransactionTypeSupported, type Transaction } from "./transaction.ts";

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
  const signed: SignedDigest[] = [];
  try {
    for (const tx of transactions) signed.push(signedDigest(tx, hardfork));
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
  }
  const senders: Address[] = [];
  for (const publicKey of recoverPublicKeys(signed)) {
    if (publicKey === undefined) break;
    senders.push(addressFromPublicKey(publicKey));
  }
  return senders;
}

/** The public key that signed `tx`, 64 bytes. @throws as `recoverSender` */
export function recoverSenderKey(tx: Transaction, hardfork: Hardfork = "osaka"): Uint8Array {
  const [publicKey] = recoverPublicKeys([signedDigest(tx, hardfork)]);
  if (publicKey === undefined) throw new SenderRecoveryError();
  return publicKey;
}

/** @throws as `recoverSender`, but SenderRecoveryError */
function signedDigest(tx: Transaction, hardfork: Hardfork): SignedDigest {
  if (!isTransactionTypeSupported(tx.type, hardfork)) {
    throw new TransactionTypeNotSupportedError(tx.type);
  }
  const { v, r, s } = tx;
  const yParity = yParityOf(tx, hardfork);
  const sMax = isAtLeast(hardfork, "homestead") ? SECP256K1_HALF_ORDER : SECP256K1_ORDER - 1n;
  if (yParity === undefined || r === 0n || r >= SECP256K1_ORDER || s === 0n || s > sMax) {
    throw new InvalidSignatureError({ v, r, s });
  }
  return { digest: signedHash(tx), r, s, yParity };
}

/** Pool, execution and index ask for the same ones; null where there is none. */
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

/** Parity of the signature's point, from whichever form of `v` the type has; undefined when `v` is none. */
function yParityOf(tx: Transaction, hardfork: Hardfork): 0 | 1 | undefined {
  if (tx.type !== 0) return asBit(tx.v);
  if (tx.chainId === undefined) return asBit(tx.v - 27n);
  if (!isAtLeast(hardfork, "spuriousDragon")) return undefined;
  return asBit(tx.v - 35n - 2n * tx.chainId);
}

function asBit(value: bigint): 0 | 1 | undefined {
  if (value === 0n) return 0;
  return value === 1n ? 1 : undefined;
}
