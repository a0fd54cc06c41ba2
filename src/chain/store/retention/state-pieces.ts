import { type Address, addressFromBytes } from "../../../base/primitives/address.ts";
import { bytesToBigint, concatBytes, equalBytes } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../../base/primitives/hash.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import type { Account } from "../../../evm/state/account.ts";
import type { KvReader } from "../../../store/storage/kv.ts";
import type { VersionedTable } from "../../../store/storage/versioned-table.ts";
import { decodeAccount } from "../../records/changes-record.ts";
import { StateRootMismatchError } from "../../store-errors.ts";
import { OrderedState, type StateSinkOf } from "../nodes/ordered-state.ts";
import { addressesFrom, addressesWithSlots, slotsFrom } from "../state/hashed-keys.ts";

/** Slots looked at for one piece: a millisecond of work. */
const SLOTS_MAX = 200;
const NO_SLOTS: ReadonlyMap<Hash, bigint> = new Map();
const FIRST_HASH = new Uint8Array(32);

/** An account with some of its slots. */
export type StatePiece = {
  readonly address: Address;
  readonly account: Account;
  readonly storage: ReadonlyMap<Hash, bigint>;
};

export type StateTables = {
  readonly kv: KvReader;
  readonly accounts: Pick<VersionedTable, "at">;
  readonly slots: Pick<VersionedTable, "at">;
};

/**
 * All of the state after block `number` in the order of its tries; an account with many slots is in several pieces, and undefined comes
 * for a key without a value. The blocks up to that one must be merged. Ends only where the root of what it gave is `root`.
 * @param sinkOf receives the nodes of the tries, those on the way to the end of a piece after that piece
 * @throws StateRootMismatchError
 */
export function* statePieces(
  tables: StateTables,
  number: number,
  root: Hash,
  sinkOf?: StateSinkOf,
): Generator<StatePiece | undefined> {
  const state = new OrderedState(sinkOf);
  const owners = new SlotOwners();
  yield* owners.read(tables.kv);
  for (const { hash, key } of addressesFrom(tables.kv, FIRST_HASH)) {
    const value = tables.accounts.at(key, number);
    if (value === undefined) {
      yield undefined;
      continue;
    }
    const account = decodeAccount(value);
    state.addAccount(hash, account);
    if (owners.mayHaveSlots(hash)) yield* slotPieces(tables, number, { key, account }, state);
    else yield { address: addressFromBytes(key), account, storage: NO_SLOTS };
  }
  const computed = state.finish();
  if (equalBytes(computed, hashToBytes(root))) return;
  throw new StateRootMismatchError({ number, computed: hashFromBytes(computed), stored: root });
}

/** The pieces of one account. */
function* slotPieces(
  { kv, slots }: StateTables,
  number: number,
  { key, account }: { readonly key: Uint8Array; readonly account: Account },
  state: OrderedState,
): Generator<StatePiece> {
  const address = addressFromBytes(key);
  let storage = new Map<Hash, bigint>();
  let isFirst = true;
  let count = 0;
  for (const { hash, key: slot } of slotsFrom(kv, key, FIRST_HASH)) {
    const stored = slots.at(concatBytes(key, slot), number);
    if (stored !== undefined) {
      const value = bytesToBigint(stored);
      state.addSlot(hash, value);
      storage.set(hashFromBytes(slot), value);
    }
    if (++count % SLOTS_MAX > 0) continue;
    if (storage.size > 0) {
      yield { address, account, storage };
      isFirst = false;
    }
    storage = new Map();
  }
  if (isFirst || storage.size > 0) yield { address, account, storage };
}

/** Of one in eight addresses without slots among a million with some, `mayHaveSlots` is true. */
const BITS = 2 ** 23;

/** The addresses that may have slots. Most have no slots, and looking for them takes as long as reading the account. */
class SlotOwners {
  readonly #bits = new Uint8Array(BITS / 8);

  /** Reads the addresses, with a pause after each. */
  *read(kv: KvReader): Generator<undefined> {
    for (const address of addressesWithSlots(kv)) {
      const bit = bitOf(keccak256(address));
      this.#bits[bit >> 3]! |= 1 << (bit & 7);
      yield undefined;
    }
  }

  /** False only for an address without slots. @param hash of the address */
  mayHaveSlots(hash: Uint8Array): boolean {
    const bit = bitOf(hash);
    return (this.#bits[bit >> 3]! & (1 << (bit & 7))) !== 0;
  }
}

function bitOf(hash: Uint8Array): number {
  return ((hash[0]! << 15) | (hash[1]! << 7) | (hash[2]! >> 1)) % BITS;
}
