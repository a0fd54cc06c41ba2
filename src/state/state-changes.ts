import { NodeError } from "../errors.ts";
import type { GenesisAlloc } from "../params/genesis.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import { EMPTY_CODE_HASH } from "./account.ts";
import type { AccountChange, StateChanges, StateReader } from "./reader.ts";
import type { WorldState } from "./world-state.ts";

/** Changes that are no state: something in them is none, is there twice, or is missing. */
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
    if (addresses.has(address))
      throw new InvalidStateError("an account is there twice", { address });
    addresses.add(address);
    const codeHash = assertAccount(change);
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

function assertAccount({ address, account, storage, storageCleared }: AccountChange): Hash {
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
