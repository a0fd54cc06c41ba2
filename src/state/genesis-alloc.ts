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
    const account = { nonce, balance, codeHash };
    accounts.push({ address, account, storage: slotsOf(storage), storageCleared: false });
  }
  return { accounts, codes };
}

/** Shared by all accounts without storage. */
const NO_SLOTS: ReadonlyMap<Hash, bigint> = new Map();

function slotsOf(storage: ReadonlyMap<Hash, bigint> = NO_SLOTS): ReadonlyMap<Hash, bigint> {
  if (storage.size === 0) return NO_SLOTS;
  return new Map([...storage].filter(([, value]) => value !== 0n));
}
