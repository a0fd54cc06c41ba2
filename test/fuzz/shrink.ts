import type { CodeItem, FuzzCase } from "./case.ts";

/** Tries of one shrinking; each runs both engines. */
const TRIES_MAX = 4000;

/**
 * A smaller case that still `fails`: without accounts, pieces of code, storage and call data that do not matter, with small
 * pushes where any will do.
 */
export function shrink<T extends FuzzCase>(failing: T, fails: (fuzzCase: T) => boolean): T {
  let best = failing;
  let tries = 0;
  const accept = (candidate: T): boolean => {
    if (tries++ >= TRIES_MAX || !fails(candidate)) return false;
    best = candidate;
    return true;
  };
  for (let before: T | undefined; before !== best && tries < TRIES_MAX; ) {
    before = best;
    for (const { address } of best.accounts) {
      accept({ ...best, accounts: best.accounts.filter((each) => each.address !== address) });
    }
    if (best.data !== "0x") accept({ ...best, data: "0x" });
    if (best.value !== "0") accept({ ...best, value: "0" });
    if (best.accessList.length > 0) accept({ ...best, accessList: [] });
    shrinkItems(best.initCode, (initCode) => accept({ ...best, initCode }));
    for (const { address } of best.accounts) {
      const change = (part: Partial<FuzzCase["accounts"][number]>) =>
        accept({
          ...best,
          accounts: best.accounts.map((each) => (each.address === address ? { ...each, ...part } : each)),
        });
      const account = best.accounts.find((each) => each.address === address)!;
      if (Object.keys(account.storage).length > 0) change({ storage: {} });
      if (account.balance !== "0") change({ balance: "0" });
      shrinkItems(account.code, (code) => change({ code }));
    }
  }
  return best;
}

/** Removes runs of items, long ones first, then replaces pushed values with small ones. */
function shrinkItems(items: readonly CodeItem[], accept: (items: readonly CodeItem[]) => boolean): void {
  let current = items;
  for (let size = current.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at + size <= current.length; ) {
      const candidate = [...current.slice(0, at), ...current.slice(at + size)];
      if (accept(candidate)) current = candidate;
      else at += size;
    }
  }
  for (const [i, item] of current.entries()) {
    if (!isPush(item) || item === "6000") continue;
    for (const small of ["6000", "6001"]) {
      if (item === small) break;
      const candidate = current.with(i, small);
      if (accept(candidate)) {
        current = candidate;
        break;
      }
    }
  }
}

function isPush(item: CodeItem): boolean {
  const opcode = Number.parseInt(item.slice(0, 2), 16);
  return opcode >= 0x60 && opcode <= 0x7f && item.length === 2 * (opcode - 0x5f + 1);
}
