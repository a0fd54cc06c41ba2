import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { EMPTY_ACCOUNT } from "../state/account.ts";
import type { StateChanges, StateReader } from "../state/reader.ts";
import { createWorldState } from "../state/world-state.ts";

/** New values of an account's fields; those left out stay as they are. */
export type AccountEdit = {
  readonly address: Address;
  /** wei */
  readonly balance?: bigint;
  readonly nonce?: bigint;
  readonly code?: Uint8Array;
  readonly storage?: ReadonlyMap<Hash, bigint>;
};

/** What `edits` change of `base`. An account that is edited exists afterwards, even an empty one: it may have storage. */
export function changesOfEdits(edits: Iterable<AccountEdit>, base: StateReader): StateChanges {
  const state = createWorldState(base);
  for (const { address, balance, nonce, code, storage } of edits) {
    const before = state.account(address) ?? EMPTY_ACCOUNT;
    state.setAccount(address, {
      balance: balance ?? before.balance,
      nonce: nonce ?? before.nonce,
      codeHash: code === undefined ? before.codeHash : state.putCode(code),
    });
    for (const [slot, value] of storage ?? []) state.setStorage(address, slot, value);
  }
  return state.changes();
}
