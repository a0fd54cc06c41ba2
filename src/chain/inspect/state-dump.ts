import { setImmediate } from "node:timers/promises";
import { type Address, addressFromBytes } from "../../base/primitives/address.ts";
import { EMPTY_BYTES, leftPad } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../base/primitives/hash.ts";
import { keccak256Hash, keccak256OfHex } from "../../base/primitives/keccak.ts";
import { StepWork } from "../../base/threads/in-slices.ts";
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import type { Account } from "../../evm/state/account.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import type { HashedKeys } from "../store/state/hashed-keys.ts";

/** An account of a dump. */
export type DumpedAccount = Account & {
  readonly address: Address;
  /** keccak256 of the address: the key in the account trie */
  readonly hash: Hash;
  readonly storageRoot: Hash;
  /** Empty where left out. */
  readonly code: Uint8Array;
  /** By slot; empty where left out. */
  readonly storage: readonly (readonly [slot: Hash, value: bigint])[];
};

export type StateDump = {
  readonly accounts: readonly DumpedAccount[];
  /** Hash of the first omitted account; undefined if none. */
  readonly next: Hash | undefined;
};

export type DumpOptions = {
  /** First hash of an address; 32 bytes, or fewer, which zeros follow. */
  readonly start: Uint8Array;
  readonly accountsMax: number;
  readonly withCode: boolean;
  readonly withStorage: boolean;
  /** Called with characters of JSON before each part is read; throws where the dump gets too large. */
  readonly take: (chars: number) => void;
  /** Called after each pause; throws if the dump takes too long, or the state is no longer stored. */
  readonly resumed: () => void;
};

export type DumpSource = {
  readonly state: StateReader;
  readonly keys: Pick<HashedKeys, "addressesFrom" | "unmergedAddresses">;
  readonly storageRootOf: (address: Address) => Hash | undefined;
};

/** Addresses looked at before other work gets its turn: some 2 ms. */
const SLICE = 200;
/** Characters of JSON around the values of one account, and of one slot. */
const ACCOUNT_CHARS = 500;
const SLOT_CHARS = 140;
/** Of a slot, which takes some microseconds to read, as work. */
const SLOT_BYTES = 1024;

/** The accounts of a state in the order of the account trie, which is that of their hashes. */
export async function dumpState(
  { state, keys, storageRootOf }: DumpSource,
  { start, accountsMax, withCode, withStorage, take, resumed }: DumpOptions,
): Promise<StateDump> {
  const found = await accountsFrom({ start: hashAt(start), countMax: accountsMax + 1 }, { state, keys }, resumed);
  const accounts: DumpedAccount[] = [];
  const work = new StepWork();
  const pause = async () => {
    await setImmediate();
    resumed();
  };
  for (const { hash, address, account } of found.slice(0, accountsMax)) {
    take(ACCOUNT_CHARS);
    const code = withCode && account.codeHash !== EMPTY_CODE_HASH ? state.code(account.codeHash) : EMPTY_BYTES;
    take(2 * code.length);
    const storage: (readonly [Hash, bigint])[] = [];
    if (withStorage) {
      for (const entry of state.storageEntries(address)) {
        take(SLOT_CHARS);
        storage.push(entry);
        if (work.add(SLOT_BYTES, 0)) await pause();
      }
    }
    const storageRoot = storageRootOf(address) ?? EMPTY_TRIE_ROOT;
    accounts.push({ ...account, address, hash, code, storage, storageRoot });
    if (work.add(code.length)) await pause();
  }
  return { accounts, next: found[accountsMax]?.hash };
}

type Found = { readonly hash: Hash; readonly address: Address; readonly account: Account };

/** The `countMax` accounts with the lowest hashes from `start`, ascending. */
async function accountsFrom(
  { start, countMax }: { readonly start: Hash; readonly countMax: number },
  { state, keys }: Pick<DumpSource, "state" | "keys">,
  resumed: () => void,
): Promise<Found[]> {
  let count = 0;
  const pause = async () => {
    if (++count % SLICE !== 0) return;
    await setImmediate();
    resumed();
  };
  // Those in memory first: what is merged meanwhile is found in the table.
  const unmerged = new Lowest<Found>(countMax);
  for (const key of Array.from(keys.unmergedAddresses())) {
    await pause();
    const hash = keccak256Hash(key);
    if (hash < start || !unmerged.canTake(hash)) continue;
    const address = addressFromBytes(key);
    const account = state.account(address);
    if (account !== undefined) unmerged.add({ hash, address, account });
  }
  const found = new Map(unmerged.sorted().map((each) => [each.address, each]));
  let fromTable = 0;
  for (const { hash, key } of keys.addressesFrom(hashToBytes(start))) {
    await pause();
    const address = addressFromBytes(key);
    const account = state.account(address);
    if (account === undefined) continue;
    found.set(address, { hash: hashFromBytes(hash), address, account });
    if (++fromTable === countMax) break;
  }
  return inOrder([...found.values()]).slice(0, countMax);
}

/** The `countMax` items with the lowest hashes of those added. */
class Lowest<Item extends { readonly hash: Hash }> {
  readonly #countMax: number;
  #found: Item[] = [];
  /** No later one is of use. */
  #last: Hash | undefined;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  canTake(hash: Hash): boolean {
    return this.#last === undefined || hash <= this.#last;
  }

  add(found: Item): void {
    this.#found.push(found);
    if (this.#found.length >= 2 * this.#countMax) this.#trim();
  }

  sorted(): readonly Item[] {
    this.#trim();
    return this.#found;
  }

  #trim(): void {
    this.#found = inOrder(this.#found).slice(0, this.#countMax);
    if (this.#found.length === this.#countMax) this.#last = this.#found.at(-1)?.hash;
  }
}

function inOrder<Item extends { readonly hash: Hash }>(found: readonly Item[]): Item[] {
  return [...found].sort((a, b) => (a.hash < b.hash ? -1 : 1));
}

/** @param start a number of any length; only its last 32 bytes count */
function hashAt(start: Uint8Array): Hash {
  return hashFromBytes(leftPad(start.subarray(-32), 32));
}

/** @param start 32 bytes, or fewer, which zeros follow */
function startHash(start: Uint8Array): Hash {
  const bytes = new Uint8Array(32);
  bytes.set(start.subarray(0, 32));
  return hashFromBytes(bytes);
}

/** Slots of one account in the order of its storage trie, which is that of the hashes of the slots. */
export type StorageRange = {
  readonly slots: readonly {
    /** keccak256 of the slot */
    readonly hash: Hash;
    readonly slot: Hash;
    readonly value: bigint;
  }[];
  /** Hash of the first omitted slot; undefined if none. */
  readonly next: Hash | undefined;
  /** The account has no storage, or does not exist. */
  readonly isEmpty: boolean;
};

/**
 * Hashes a slot a step.
 * @param start hash of the first slot; 32 bytes, or fewer, which zeros follow
 */
export function* storageRange(
  state: StateReader,
  address: Address,
  start: Uint8Array,
  slotsMax: number,
): Generator<undefined, StorageRange> {
  const first = startHash(start);
  let isEmpty = true;
  const lowest = new Lowest<StorageRange["slots"][number]>(slotsMax + 1);
  for (const [slot, value] of state.storageEntries(address)) {
    yield;
    if (value === 0n) continue;
    isEmpty = false;
    const hash = hashFromBytes(keccak256OfHex(slot));
    if (hash >= first && lowest.canTake(hash)) lowest.add({ hash, slot, value });
  }
  const slots = lowest.sorted();
  return { slots: slots.slice(0, slotsMax), next: slots[slotsMax]?.hash, isEmpty };
}

/** Keys looked at before other work gets its turn: some 2 ms. */
const KEYS_PER_SLICE = 200;
const ADDRESS_LENGTH = 20;

/**
 * The address or the slot whose hash is a key of the state's tries, of now or of an old block; undefined where none is. An address is one
 * look-up, a slot one for each address; of blocks not merged yet every key is hashed.
 * @param assertInTime called now and then; throws when the search takes too long
 */
export async function findPreimage(
  wanted: Hash,
  keys: HashedKeys,
  assertInTime: () => void,
): Promise<Uint8Array | undefined> {
  const hash = hashToBytes(wanted);
  let count = 0;
  const find = async <Key>(all: Iterable<Key>, preimageOf: (key: Key) => Uint8Array | undefined) => {
    for (const key of all) {
      if (++count % KEYS_PER_SLICE === 0) {
        await setImmediate();
        assertInTime();
      }
      const found = preimageOf(key);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const ifWanted = (key: Uint8Array) => (keccak256Hash(key) === wanted ? key : undefined);
  // Those in memory first: what is merged meanwhile is found in the tables.
  const slots = Array.from(keys.unmergedSlots(), (key) => key.subarray(ADDRESS_LENGTH));
  return (
    (await find(Array.from(keys.unmergedAddresses()), ifWanted)) ??
    (await find(slots, ifWanted)) ??
    keys.addressWithHash(hash) ??
    (await find(keys.addressesFrom(new Uint8Array(32)), ({ key }) => keys.slotWithHash(key, hash)))
  );
}
