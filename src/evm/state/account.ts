import type { Hash } from "../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";

/** An account as stored flat; its storage root lives in the trie only. Balance in wei. */
export type Account = {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: Hash;
};

export const EMPTY_ACCOUNT: Account = { nonce: 0n, balance: 0n, codeHash: EMPTY_CODE_HASH };

const BALANCE_MAX = 2n ** 256n - 1n;

/**
 * `account` with `amount` more wei. A balance stops at 2^256 - 1: ether that exists never adds up to that, but a genesis file or a
 * dev chain can give it to an account, and every block that pays it has to remain possible.
 */
export function credited({ nonce, balance, codeHash }: Account, amount: bigint): Account {
  const sum = balance + amount;
  return { nonce, balance: sum < BALANCE_MAX ? sum : BALANCE_MAX, codeHash };
}

/** EIP-161: no nonce, no balance, no code. */
export function isEmptyAccount(account: Account): boolean {
  return account.nonce === 0n && account.balance === 0n && account.codeHash === EMPTY_CODE_HASH;
}

/** True when `b` exists and has the same fields. */
export function sameAccount(a: Account, b: Account | undefined): boolean {
  return a === b || (b !== undefined && a.nonce === b.nonce && a.balance === b.balance && a.codeHash === b.codeHash);
}
