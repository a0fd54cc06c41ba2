import type { GenesisAlloc } from "../params/genesis.ts";
import type { Hash } from "../primitives/hash.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import { EMPTY_CODE_HASH } from "./account.ts";
import type { AccountChange, StateChanges } from "./reader.ts";

/** The difference between no state at all and `alloc`. Empty accounts are stored, as geth does. */
export function changesOfAlloc(alloc: GenesisAlloc): StateChanges {
  const accounts: AccountChange[] = [];
  const codes = new Map<Hash, Uint8Array>();
  for (const [address, { balance, nonce = 0n, code, storage }] of alloc) {
    let codeHash = EMPTY_CODE_HASH;
    if (code !== undefined && code.length > 0) {
      codeHash = keccak256Hash(code);
      codes.set(codeHash, code);
    }
    const slots = new Map<Hash, bigint>();
    for (const [slot, value] of storage ?? []) if (value !== 0n) slots.set(slot, value);
    const account = { nonce, balance, codeHash };
    accounts.push({ address, account, storage: slots, storageCleared: false });
  }
  return { accounts, codes };
}
