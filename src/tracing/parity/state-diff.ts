import { type Hash, hashFromBigint } from "../../primitives/hash.ts";
import { bytesToHex } from "../../primitives/hex.ts";
import type { Account } from "../../state/account.ts";
import type { AccountChange, StateChanges, StateReader } from "../../state/reader.ts";

/**
 * `stateDiff`: every account that changed, by address. Each member is "=" (unchanged), `{"+": new}`, `{"-": old}` or
 * `{"*": {from, to}}`.
 */
export function stateDiffText(changes: StateChanges, before: StateReader): string {
  const members: string[] = [];
  for (const change of changes.accounts) {
    const text = accountText(change, changes, before);
    if (text !== undefined) members.push(`"${change.address}":${text}`);
  }
  return `{${members.join(",")}}`;
}

/** undefined where nothing differs. */
function accountText(
  { address, account: after, storage }: AccountChange,
  { codes }: StateChanges,
  state: StateReader,
): string | undefined {
  const before = state.account(address);
  if (!before && !after) return undefined;
  const codeOf = ({ codeHash }: Account) => bytesToHex(codes.get(codeHash) ?? state.code(codeHash));
  const member = (textOf: (account: Account) => string) =>
    deltaText(before && textOf(before), after ? textOf(after) : undefined);
  const balance = member(({ balance }) => `0x${balance.toString(16)}`);
  const nonce = member(({ nonce }) => `0x${nonce.toString(16)}`);
  const isSameCode = before && after && before.codeHash === after.codeHash;
  const code = isSameCode ? UNCHANGED : member(codeOf);
  const slots: string[] = [];
  for (const [slot, value] of storage) {
    const old = before ? state.storage(address, slot) : 0n;
    if (old === value) continue;
    slots.push(`"${slot}":${slotText(before && old, after ? value : undefined)}`);
  }
  if ([balance, nonce, code].every((text) => text === UNCHANGED) && slots.length === 0) {
    return undefined;
  }
  return `{"balance":${balance},"code":${code},"nonce":${nonce},"storage":{${slots.join(",")}}}`;
}

const UNCHANGED = '"="';

function slotText(before: bigint | undefined, after: bigint | undefined): string {
  const word = (value: bigint | undefined): Hash | undefined =>
    value === undefined ? undefined : hashFromBigint(value);
  return deltaText(word(before), word(after));
}

function deltaText(before: string | undefined, after: string | undefined): string {
  if (before === after) return UNCHANGED;
  if (before === undefined) return `{"+":"${after}"}`;
  if (after === undefined) return `{"-":"${before}"}`;
  return `{"*":{"from":"${before}","to":"${after}"}}`;
}
