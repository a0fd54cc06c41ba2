import { ACCOUNT_WRITE_GAS, AUTHORIZATION_BASE_GAS, AUTHORIZATION_GAS, STATE_GAS } from "../../../base/params/gas.ts";
import {
  ADDRESS_LENGTH,
  type Address,
  addressFromBytes,
  addressToBytes,
  ZERO_ADDRESS,
} from "../../../base/primitives/address.ts";
import { concatBytes } from "../../../base/primitives/bytes.ts";
import { EMPTY_CODE_HASH } from "../../../base/types/constants.ts";
import { recoverAuthority } from "../../../base/types/transaction/sender.ts";
import type { Authorization } from "../../../base/types/transaction/transaction.ts";
import type { State } from "../../machine/state-port.ts";
import { type Account, EMPTY_ACCOUNT, isEmptyAccount } from "../../state/account.ts";
import type { TransactionGas } from "./transaction-gas.ts";

/** EIP-7702: what stands before the address in the code of a delegated account. */
const PREFIX = Uint8Array.of(0xef, 0x01, 0x00);

/** The account whose code runs instead of `code`; undefined if `code` is not a delegation. */
export function delegationTarget(code: Uint8Array): Address | undefined {
  if (code.length !== PREFIX.length + ADDRESS_LENGTH) return undefined;
  if (PREFIX.some((byte, i) => code[i] !== byte)) return undefined;
  return addressFromBytes(code.subarray(PREFIX.length));
}

/** The code that delegates to `target`. */
export function delegationCode(target: Address): Uint8Array {
  return concatBytes(PREFIX, addressToBytes(target));
}

const UINT64_MAX = 2n ** 64n - 1n;

type AuthorizationLimits = {
  readonly chainId: bigint;
  /** Of `performance.now()`; undefined: none */
  readonly deadlineMs?: number | undefined;
};

/** What a list of authorizations leads to besides the changes in the state. */
export type AppliedAuthorizations = {
  /** Every authority whose signature and chain held, also of those passed over afterwards: warm from here on. */
  readonly authorities: readonly Address[];
  /** For the refund counter: authorities that existed cost less than was charged. */
  readonly refund: bigint;
};

/**
 * EIP-7702: lets each authority's account run the code it names; a tuple that does not hold is passed over.
 * Stays when the call that follows reverts.
 * @returns undefined when the deadline has passed
 */
export function applyAuthorizations(
  list: readonly Authorization[],
  { chainId, deadlineMs }: AuthorizationLimits,
  state: State,
): AppliedAuthorizations | undefined {
  const authorities: Address[] = [];
  let refund = 0n;
  for (const authorization of list) {
    if (isOver(deadlineMs)) return undefined;
    const authority = authorityOf(authorization, chainId);
    if (authority === undefined) continue;
    authorities.push(authority);
    const existing = state.account(authority);
    const account = existing ?? EMPTY_ACCOUNT;
    const isDelegatable =
      account.codeHash === EMPTY_CODE_HASH || delegationTarget(state.code(account.codeHash)) !== undefined;
    if (!isDelegatable || account.nonce !== authorization.nonce) continue;
    if (existing) refund += AUTHORIZATION_GAS - AUTHORIZATION_BASE_GAS;
    delegate(authority, account, authorization.address, state);
  }
  return { authorities, refund };
}

/** Of an authority in one transaction: what earlier tuples of it have paid for, or what is there anyway. */
type PaidAuthority = { isWritten: boolean; isDelegationPaid: boolean };

/**
 * As `applyAuthorizations` from Amsterdam on, where what a tuple changes is charged as it is applied (EIP-2780, EIP-8037).
 * @param isPrepaid true for accounts whose first write is paid already
 * @returns the authorities; "outOfGas" where `gas` ends, "timeout" where the deadline has passed
 */
export function applyPaidAuthorizations(
  list: readonly Authorization[],
  { chainId, deadlineMs }: AuthorizationLimits,
  state: State,
  gas: TransactionGas,
  {
    isPrepaid,
    onAccess,
  }: { isPrepaid(address: Address): boolean; readonly onAccess: ((address: Address) => void) | undefined },
): readonly Address[] | "outOfGas" | "timeout" {
  const authorities: Address[] = [];
  const paid = new Map<Address, PaidAuthority>();
  for (const authorization of list) {
    if (isOver(deadlineMs)) return "timeout";
    const authority = authorityOf(authorization, chainId);
    if (authority === undefined) continue;
    authorities.push(authority);
    onAccess?.(authority);
    const account = state.account(authority) ?? EMPTY_ACCOUNT;
    const isDelegated = delegationTarget(state.code(account.codeHash)) !== undefined;
    const isDelegatable = account.codeHash === EMPTY_CODE_HASH || isDelegated;
    if (!isDelegatable || account.nonce !== authorization.nonce) continue;
    const known = paid.get(authority) ?? { isWritten: isPrepaid(authority), isDelegationPaid: isDelegated };
    paid.set(authority, known);
    const clears = authorization.address === ZERO_ADDRESS;
    const execution = known.isWritten ? 0n : ACCOUNT_WRITE_GAS;
    let growth = isEmptyAccount(account) ? STATE_GAS.account : 0n;
    if (!clears && !known.isDelegationPaid) growth += STATE_GAS.delegation;
    if (!gas.charge(execution, growth)) return "outOfGas";
    known.isWritten = true;
    known.isDelegationPaid ||= !clears;
    delegate(authority, account, authorization.address, state);
  }
  return authorities;
}

/** Uses up the nonce of `authority`, and lets it run the code of `target`; that of the zero address is its own, empty code. */
function delegate(authority: Address, { balance, nonce }: Account, target: Address, state: State): void {
  state.setAccount(authority, {
    balance,
    nonce: nonce + 1n,
    codeHash: target === ZERO_ADDRESS ? EMPTY_CODE_HASH : state.putCode(delegationCode(target)),
  });
}

/** The signers of the valid authorizations; undefined when the deadline has passed. */
export function authoritiesOf(
  list: readonly Authorization[],
  { chainId, deadlineMs }: AuthorizationLimits,
): readonly Address[] | undefined {
  const authorities: Address[] = [];
  for (const authorization of list) {
    if (isOver(deadlineMs)) return undefined;
    const authority = authorityOf(authorization, chainId);
    if (authority !== undefined) authorities.push(authority);
  }
  return authorities;
}

/** To be asked before each signature, of some 50 µs: a call may have thousands. */
function isOver(deadlineMs: number | undefined): boolean {
  return deadlineMs !== undefined && performance.now() > deadlineMs;
}

/** The account that signed; undefined when the tuple is for another chain, at the last nonce, or not well signed. */
function authorityOf(authorization: Authorization, chainId: bigint): Address | undefined {
  if (authorization.chainId !== 0n && authorization.chainId !== chainId) return undefined;
  if (authorization.nonce >= UINT64_MAX) return undefined;
  return recoverAuthority(authorization);
}
