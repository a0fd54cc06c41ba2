import { BLOCK_ACCESS_LIST_ITEM_GAS } from "../../../base/params/gas.ts";
import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type {
  AccountAccess,
  BlockAccessList,
  IndexedCode,
  IndexedValue,
} from "../../../base/types/block-access-list.ts";
import type { AccountWriter } from "../../machine/state-port.ts";
import { EMPTY_ACCOUNT } from "../../state/account.ts";
import type { StateReader } from "../../state/reader.ts";
import type { WorldState } from "../../state/world-state.ts";
import { InvalidTransactionError } from "../errors.ts";

/** The changes of one account so far; values by index. Only the last value of an index counts. */
type Accessed = {
  readonly slots: Map<Hash, Map<number, bigint>>;
  readonly balances: Map<number, bigint>;
  readonly nonces: Map<number, bigint>;
  readonly codes: Map<number, Uint8Array>;
};

/** Accounts that were looked at, each with its slots. */
type Accesses = Map<Address, Set<Hash>>;

/**
 * Gathers what the execution of a block looks at and changes (EIP-7928). Each step of the block is recorded separately: a transaction,
 * a system call, the withdrawals. What a step looks at stays where the step is undone, and is forgotten where the block goes on without the step.
 */
export class AccessListBuilder {
  readonly #state: WorldState;
  readonly #accounts = new Map<Address, Accessed>();
  #step: Accesses = new Map();
  #items = 0;

  constructor(state: WorldState) {
    this.#state = state;
  }

  /** Records an account, or a slot of it, that the running step looks at. */
  readonly onAccess = (address: Address, slot: Hash | undefined): void => {
    let slots = this.#step.get(address);
    if (slots === undefined) {
      slots = new Set();
      this.#step.set(address, slots);
    }
    if (slot !== undefined) slots.add(slot);
  };

  /**
   * Runs one step, which ends in `finalizeTransaction`, as a part of index `index`. Discards what the step looked at where it throws.
   */
  watch<T>(index: number, step: () => T): T {
    this.#step = new Map();
    const before = this.#state.beforeTransaction();
    const result = step();
    this.#collect(index, before);
    return result;
  }

  /** @throws InvalidTransactionError if the accounts and slots of the running step would exceed the list's limit */
  assertRoom(itemsMax = Number.POSITIVE_INFINITY): void {
    if (this.#items + itemsOf(this.#step) <= itemsMax) return;
    let items = this.#items;
    for (const [address, slots] of this.#step) {
      const known = this.#accounts.get(address)?.slots;
      if (known === undefined) items++;
      for (const slot of slots) if (!known?.has(slot)) items++;
    }
    if (items <= itemsMax) return;
    throw new InvalidTransactionError("TX_GAS_ALLOWANCE_EXCEEDED", "block access list limit reached", {
      items,
      itemsMax,
    });
  }

  list(): BlockAccessList {
    return [...this.#accounts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([address, accessed]) => accountAccess(address, accessed));
  }

  #collect(index: number, before: StateReader): void {
    const state = this.#state;
    for (const [address, slots] of this.#step) {
      const accessed = this.#accountOf(address);
      const old = before.account(address) ?? EMPTY_ACCOUNT;
      const now = state.account(address) ?? EMPTY_ACCOUNT;
      if (old !== now) {
        if (old.balance !== now.balance) accessed.balances.set(index, now.balance);
        if (old.nonce !== now.nonce) accessed.nonces.set(index, now.nonce);
        if (old.codeHash !== now.codeHash) accessed.codes.set(index, state.code(now.codeHash));
      }
      for (const slot of slots) {
        let values = accessed.slots.get(slot);
        if (values === undefined) {
          values = new Map();
          accessed.slots.set(slot, values);
          this.#items++;
        }
        const value = state.storage(address, slot);
        if (value !== before.storage(address, slot)) values.set(index, value);
      }
    }
  }

  #accountOf(address: Address): Accessed {
    let accessed = this.#accounts.get(address);
    if (accessed === undefined) {
      accessed = { slots: new Map(), balances: new Map(), nonces: new Map(), codes: new Map() };
      this.#accounts.set(address, accessed);
      this.#items++;
    }
    return accessed;
  }
}

function itemsOf(step: Accesses): number {
  let items = step.size;
  for (const slots of step.values()) items += slots.size;
  return items;
}

/** Most accounts and slots of the access list of a block with that gas limit (EIP-7928). */
export function accessListItemsMax(gasLimit: bigint): number {
  return Number(gasLimit / BLOCK_ACCESS_LIST_ITEM_GAS);
}

/** Accounts and slots of `list`: what its size is measured in. */
export function accessListItems(list: BlockAccessList): number {
  let items = list.length;
  for (const { storageChanges, storageReads } of list) items += storageChanges.length + storageReads.length;
  return items;
}

function accountAccess(address: Address, { slots, balances, nonces, codes }: Accessed): AccountAccess {
  const sorted = [...slots].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    address,
    storageChanges: sorted
      .filter(([, values]) => values.size > 0)
      .map(([slot, values]) => ({ slot, changes: indexedValues(values) })),
    storageReads: sorted.filter(([, values]) => values.size === 0).map(([slot]) => slot),
    balanceChanges: indexedValues(balances),
    nonceChanges: indexedValues(nonces),
    codeChanges: [...codes].map(([index, code]): IndexedCode => ({ index, code })),
  };
}

/** Indexes come in ascending order. */
function indexedValues(values: ReadonlyMap<number, bigint>): IndexedValue[] {
  return [...values].map(([index, value]) => ({ index, value }));
}

/** `state`, with a call of `onAccess` for each account and slot that is read or written. */
export function reportingAccesses(state: AccountWriter, onAccess: AccessListBuilder["onAccess"]): AccountWriter {
  return {
    account(address) {
      onAccess(address, undefined);
      return state.account(address);
    },
    setAccount(address, account) {
      onAccess(address, undefined);
      state.setAccount(address, account);
    },
    storage(address, slot) {
      onAccess(address, slot);
      return state.storage(address, slot);
    },
    setStorage(address, slot, value) {
      onAccess(address, slot);
      state.setStorage(address, slot, value);
    },
  };
}
