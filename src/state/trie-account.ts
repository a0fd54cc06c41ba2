import { bigintToBytes, bytesToBigint } from "../primitives/bytes.ts";
import { hashFromBytes, hashToBytes } from "../primitives/hash.ts";
import { decodeRlp, encodeRlp, InvalidRlpError } from "../primitives/rlp.ts";
import { type Account, EMPTY_CODE_HASH } from "./account.ts";

/** An account as it stands in a leaf of the account trie. `storageRoot` has 32 bytes. */
export type TrieAccount = Account & { readonly storageRoot: Uint8Array };

const EMPTY_CODE_HASH_BYTES = hashToBytes(EMPTY_CODE_HASH);

/** RLP([nonce, balance, storageRoot, codeHash]): Yellow Paper 4.1. */
export function encodeTrieAccount(account: Account, storageRoot: Uint8Array): Uint8Array {
  const codeHash =
    account.codeHash === EMPTY_CODE_HASH ? EMPTY_CODE_HASH_BYTES : hashToBytes(account.codeHash);
  return encodeRlp([
    bigintToBytes(account.nonce),
    bigintToBytes(account.balance),
    storageRoot,
    codeHash,
  ]);
}

/** @throws InvalidRlpError */
export function decodeTrieAccount(leaf: Uint8Array): TrieAccount {
  const fields = decodeRlp(leaf);
  if (fields instanceof Uint8Array || fields.length !== 4) throw notAnAccount();
  const [nonce, balance, storageRoot, codeHash] = fields;
  if (!(nonce instanceof Uint8Array && balance instanceof Uint8Array)) throw notAnAccount();
  if (!(storageRoot instanceof Uint8Array && codeHash instanceof Uint8Array)) throw notAnAccount();
  if (storageRoot.length !== 32 || codeHash.length !== 32) throw notAnAccount();
  return {
    nonce: bytesToBigint(nonce),
    balance: bytesToBigint(balance),
    storageRoot,
    codeHash: hashFromBytes(codeHash),
  };
}

/** The storage root of an account leaf, a view, without taking the rest apart: both hashes are last and have their full length. */
export function storageRootOf(leaf: Uint8Array): Uint8Array {
  return leaf.subarray(leaf.length - 65, leaf.length - 33);
}

function notAnAccount(): InvalidRlpError {
  return new InvalidRlpError("leaf is not an account");
}
