import { setImmediate } from "node:timers/promises";
import type { Address } from "../../base/primitives/address.ts";
import { type Hash, hashFromBytes } from "../../base/primitives/hash.ts";
import { keccak256OfHex } from "../../base/primitives/keccak.ts";
import { sameAccount } from "../../evm/state/account.ts";
import type { StateChanges, StateReader } from "../../evm/state/reader.ts";

export type ChangedStates = {
  readonly stateAt: (number: number) => StateReader;
  readonly changes: (number: number) => StateChanges;
};

/** Characters of an address and of a slot: what is collected over a range of blocks is in memory until the end. */
const ADDRESS_CHARS = 45;
const SLOT_CHARS = 66;

/**
 * Accounts of the state after block `last` that are not the same in the state after block `first`: another nonce, balance, code or
 * storage. In the order of their hashes, as the account trie has them; accounts that are gone are not in it.
 * @throws what `take` throws where the blocks between change too much, and `resumed`, called after each pause, where they are too many or
 * no longer stored
 */
export async function modifiedAccounts(
  { stateAt, changes }: ChangedStates,
  first: number,
  last: number,
  { take, resumed }: { readonly take: (chars: number) => void; readonly resumed: () => void },
): Promise<readonly Address[]> {
  const slotsOf = new Map<Address, Set<Hash>>();
  for (let number = first + 1; number <= last; number++) {
    for (const { address, storage } of changes(number).accounts) {
      const slots = slotsOf.get(address) ?? new Set();
      take(ADDRESS_CHARS + SLOT_CHARS * storage.size);
      for (const slot of storage.keys()) slots.add(slot);
      slotsOf.set(address, slots);
    }
    // Other calls have their turn between two blocks.
    await setImmediate();
    resumed();
  }
  const before = stateAt(first);
  const after = stateAt(last);
  const modified: { readonly hash: Hash; readonly address: Address }[] = [];
  for (const [address, slots] of slotsOf) {
    const account = after.account(address);
    if (account === undefined) continue;
    const isSame =
      sameAccount(account, before.account(address)) &&
      [...slots].every((slot) => before.storage(address, slot) === after.storage(address, slot));
    if (!isSame) modified.push({ hash: hashFromBytes(keccak256OfHex(address)), address });
  }
  return modified.sort((a, b) => (a.hash < b.hash ? -1 : 1)).map(({ address }) => address);
}
