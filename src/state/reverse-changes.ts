import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { StateChanges, StateReader } from "./reader.ts";

/**
 * The difference that leads back to `before` from the state in which all of `changes` have been made, in order. No codes: none has to come
 * back.
 */
export function reverseChanges(changes: Iterable<StateChanges>, before: StateReader): StateChanges {
  const changed = new Map<Address, Map<Hash, bigint>>();
  for (const { accounts } of changes) {
    for (const { address, storage } of accounts) {
      let slots = changed.get(address);
      if (slots === undefined) {
        slots = new Map();
        changed.set(address, slots);
      }
      for (const slot of storage.keys()) {
        if (!slots.has(slot)) slots.set(slot, before.storage(address, slot));
      }
    }
  }
  return {
    accounts: Array.from(changed, ([address, storage]) => ({
      address,
      account: before.account(address) ?? null,
      storage,
      storageCleared: false,
    })),
    codes: new Map(),
  };
}
