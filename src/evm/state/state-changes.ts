import { NodeError } from "../../base/errors.ts";
import type { GenesisAlloc } from "../../base/params/genesis-account.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import type { AccountChange, StateChanges, StateReader } from "./reader.ts";
import type { WorldState } from "./world-state.ts";

/** The changes do not form a valid state: an entry is malformed, repeated or missing. */
export class InvalidStateError extends NodeError {
  readonly code = "STORE_INVALID_STATE";
}

const WORD_END = 2n ** 256n;
const NONCE_END = 2n ** 64n;
/** Of a slot in hex, with its prefix. */
const SLOT_DIGITS = 66;

/**
 * Asserts what a state root does not say of changes that lead to a state from nothing. The trie ignores an account that is removed with all of its
 * slots, a slot of 0, and the codes; a store would have rows of them, and later blocks would read those.
 *
 * An empty account (EIP-161) is not refused: genesis and blocks before Spurious Dragon can have them, and they are in the state root.
 * @throws InvalidStateError
 */
export function assertWholeState({ accounts, codes }: StateChanges): void {
  const addresses = new Set<Address>();
  const used = new Set<Hash>();
  for (const change of accounts) {
    const { address } = change;
    if (addresses.has(address)) throw new InvalidStateError("an account is there twice", { address });
    addresses.add(address);
    const codeHash = assertPresent(change);
    if (codeHash !== EMPTY_CODE_HASH) used.add(codeHash);
  }
  for (const codeHash of used) {
    if (!codes.has(codeHash)) throw new InvalidStateError("a code is missing", { codeHash });
  }
  for (const [codeHash, code] of codes) {
    if (!used.has(codeHash)) throw new InvalidStateError("no account has this code", { codeHash });
    if (keccak256Hash(code) !== codeHash) {
      throw new InvalidStateError("a code has another hash", { codeHash });
    }
  }
}

/**
 * Asserts that changes make an account, and slots of it, of nothing: its code hash.
 * @throws InvalidStateError
 */
export function assertPresent({ address, account, storage, storageCleared }: AccountChange): Hash {
  if (account === null || storageCleared) {
    throw new InvalidStateError("an account is removed or cleared", { address });
  }
  const { nonce, balance, codeHash } = account;
  if (!(nonce >= 0n && nonce < NONCE_END && balance >= 0n && balance < WORD_END)) {
    throw new InvalidStateError("nonce or balance is out of range", { address });
  }
  for (const [slot, value] of storage) {
    if (slot.length !== SLOT_DIGITS || value <= 0n || value >= WORD_END) {
      throw new InvalidStateError("slot or value is out of range", { address, slot });
    }
  }
  return codeHash;
}

/** The accounts of `changes`, in order. */
export function changedAddresses({ accounts }: StateChanges): Address[] {
  const addresses: Address[] = [];
  for (const { address } of accounts) addresses.push(address);
  return addresses;
}

/** Applies `changes` to `state`. */
export function replayChanges({ accounts, codes }: StateChanges, state: WorldState): void {
  for (const code of codes.values()) state.putCode(code);
  for (const { address, account, storage, storageCleared } of accounts) {
    if (storageCleared) state.deleteAccount(address);
    if (account === null) continue;
    state.setAccount(address, account);
    for (const [slot, value] of storage) state.setStorage(address, slot, value);
  }
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: false });
}

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

/** State changes, found by address. */
export type StatePatch = {
  readonly accounts: ReadonlyMap<Address, AccountChange>;
  readonly codes: StateChanges["codes"];
};

export function statePatch({ accounts, codes }: StateChanges): StatePatch {
  return { accounts: new Map(accounts.map((change) => [change.address, change])), codes };
}

/** `base` with a patch laid over it. */
export function patchedState(base: StateReader, { accounts: changes, codes }: StatePatch): StateReader {
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
  const accounts = new Map<Address, AccountChange>(first.accounts.map((change) => [change.address, change]));
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
