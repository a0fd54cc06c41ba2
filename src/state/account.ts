import { EMPTY_BYTES } from "../primitives/bytes.ts";
import type { Hash } from "../primitives/hash.ts";
import { keccak256Hash } from "../primitives/keccak.ts";

/** An account as stored flat; its storage root lives in the trie only. Balance in wei. */
export type Account = {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: Hash;
};

/** keccak256 of no code at all */
export const EMPTY_CODE_HASH = keccak256Hash(EMPTY_BYTES);

export const EMPTY_ACCOUNT: Account = { nonce: 0n, balance: 0n, codeHash: EMPTY_CODE_HASH };

/** EIP-161: no nonce, no balance, no code. */
export function isEmptyAccount(account: Account): boolean {
  return account.nonce === 0n && account.balance === 0n && account.codeHash === EMPTY_CODE_HASH;
}

/** True when `b` exists and has the same fields. */
export function sameAccount(a: Account, b: Account | undefined): boolean {
  return a === b || (b !== undefined && a.nonce === b.nonce && a.balance === b.balance && a.codeHash === b.codeHash);
}
