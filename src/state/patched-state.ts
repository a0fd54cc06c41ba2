import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { AccountChange, StateChanges, StateReader } from "./reader.ts";

/** State changes, found by address. */
export type StatePatch = {
  readonly accounts: ReadonlyMap<Address, AccountChange>;
  readonly codes: StateChanges["codes"];
};

export function statePatch({ accounts, codes }: StateChanges): StatePatch {
  return { accounts: new Map(accounts.map((change) => [change.address, change])), codes };
}

/** `base` with a patch laid over it. */
export function patchedState(
  base: StateReader,
  { accounts: changes, codes }: StatePatch,
): StateReader {
  return {
    account(address) {
      const change = changes.get(address);
      return change === undefined ? base.account(address) : (change.account ?? undefined);
    },
    storage(address, slot) {
      const change = changes.get(address);
      const value = change?.storage.get(slot);
      if (value !== undefined) return value;
      return change?.storageCleared ? 0n : base.storage(address, slot);
    },
    code: (codeHash) => codes.get(codeHash) ?? base.code(codeHash),
    storageEntries(address) {
      const change = changes.get(address);
      return change === undefined ? base.storageEntries(address) : entriesOf(change, base);
    },
  };
}

function* entriesOf(
  { address, storage, storageCleared }: AccountChange,
  base: StateReader,
): Generator<readonly [Hash, bigint]> {
  for (const entry of storage) if (entry[1] !== 0n) yield entry;
  if (storageCleared) return;
  for (const entry of base.storageEntries(address)) if (!storage.has(entry[0])) yield entry;
}

/** What `first` and, on the state it leads to, `second` change together. */
export function mergeChanges(first: StateChanges, second: StateChanges): StateChanges {
  const accounts = new Map<Address, AccountChange>(
    first.accounts.map((change) => [change.address, change]),
  );
  for (const change of second.accounts) {
    const before = accounts.get(change.address);
    accounts.set(change.address, before === undefined ? change : mergeAccount(before, change));
  }
  return { accounts: [...accounts.values()], codes: new Map([...first.codes, ...second.codes]) };
}

function mergeAccount(before: AccountChange, change: AccountChange): AccountChange {
  // Slots of `before` that the second change cleared are in it, with value 0.
  const storage = new Map([...before.storage, ...change.storage]);
  return { ...change, storage, storageCleared: before.storageCleared || change.storageCleared };
}
