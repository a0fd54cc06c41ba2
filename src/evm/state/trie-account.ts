import { bytesToBigint } from "../../base/primitives/bytes.ts";
import { hashFromBytes, hashToBytes } from "../../base/primitives/hash.ts";
import { writeHex } from "../../base/primitives/hex.ts";
import { decodeRlp, InvalidRlpError, writeRlpInteger } from "../../base/primitives/rlp.ts";
import { copyShared } from "../../base/primitives/slab.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import type { Account } from "./account.ts";

/** An account as stored in a leaf of the account trie. `storageRoot` has 32 bytes. */
export type TrieAccount = Account & { readonly storageRoot: Uint8Array };

const EMPTY_CODE_HASH_BYTES = hashToBytes(EMPTY_CODE_HASH);

/** Longest: two bytes of prefix, 9 for the nonce, 33 each for balance and hashes. */
const ENCODED_LENGTH_MAX = 2 + 9 + 33 + 33 + 33;
const encoded = new Uint8Array(ENCODED_LENGTH_MAX);

/** RLP([nonce, balance, storageRoot, codeHash]): Yellow Paper 4.1. Written directly: every account of a block comes through here. */
export function encodeTrieAccount(account: Account, storageRoot: Uint8Array): Uint8Array {
  let at = writeRlpInteger(account.nonce, encoded, 2);
  at = writeRlpInteger(account.balance, encoded, at);
  encoded[at++] = 0xa0;
  encoded.set(storageRoot, at);
  at += 32;
  encoded[at++] = 0xa0;
  if (account.codeHash === EMPTY_CODE_HASH) encoded.set(EMPTY_CODE_HASH_BYTES, at);
  else writeHex(account.codeHash, encoded, at);
  at += 32;
  // The two hashes take 66 bytes, so the length always needs its own byte.
  encoded[0] = 0xf8;
  encoded[1] = at - 2;
  return copyShared(encoded, 0, at);
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

/** The value of a slot as stored in a leaf of a storage trie; undefined for 0: such slots are not in the trie. */
export function encodeSlotValue(value: bigint): Uint8Array | undefined {
  return value === 0n ? undefined : copyShared(encoded, 0, writeRlpInteger(value, encoded, 0));
}

/** @throws InvalidRlpError */
export function decodeSlotValue(leaf: Uint8Array | undefined): bigint {
  if (leaf === undefined) return 0n;
  const value = decodeRlp(leaf);
  if (!(value instanceof Uint8Array)) throw new InvalidRlpError("leaf is not a storage value");
  return bytesToBigint(value);
}
