import { invariant } from "../../../../src/base/errors.ts";
import type { GenesisAlloc } from "../../../../src/base/params/genesis-account.ts";
import type { Address } from "../../../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../../src/base/primitives/bytes.ts";
import type { Hash } from "../../../../src/base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../../../src/base/types/constants.ts";
import type { Account } from "../../../../src/evm/state/account.ts";
import type { StateChanges, StateReader } from "../../../../src/evm/state/reader.ts";
import { changesOfAlloc } from "../../../../src/evm/state/state-changes.ts";

/** A state held in Maps. */
export interface MemoryState extends StateReader {
  apply(changes: StateChanges): void;
  /** Every account, in the order in which they came to be. */
  accounts(): Iterable<readonly [address: Address, account: Account]>;
}

/** A state that begins with the accounts of `alloc`. */
export function createMemoryState(alloc: GenesisAlloc = new Map()): MemoryState {
  const accounts = new Map<Address, Account>();
  const storages = new Map<Address, Map<Hash, bigint>>();
  const codes = new Map<Hash, Uint8Array>([[EMPTY_CODE_HASH, EMPTY_BYTES]]);

  const apply = (changes: StateChanges): void => {
    for (const { address, account, storage, storageCleared } of changes.accounts) {
      if (account === null) accounts.delete(address);
      else accounts.set(address, account);
      if (storageCleared) storages.delete(address);
      if (account === null || storage.size === 0) continue;
      let slots = storages.get(address);
      if (slots === undefined) {
        slots = new Map();
        storages.set(address, slots);
      }
      for (const [slot, value] of storage) {
        if (value === 0n) slots.delete(slot);
        else slots.set(slot, value);
      }
    }
    for (const [codeHash, code] of changes.codes) codes.set(codeHash, code);
  };

  apply(changesOfAlloc(alloc));
  return {
    account: (address) => accounts.get(address),
    storage: (address, slot) => storages.get(address)?.get(slot) ?? 0n,
    code(codeHash) {
      const code = codes.get(codeHash);
      invariant(code, `code ${codeHash} is known`);
      return code;
    },
    storageEntries: (address) => storages.get(address) ?? [],
    apply,
    accounts: () => accounts,
  };
}
