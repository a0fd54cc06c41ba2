import { setImmediate } from "node:timers/promises";
import type { Address } from "../../primitives/address.ts";
import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../primitives/hash.ts";
import { keccak256OfHex } from "../../primitives/keccak.ts";
import { type Account, EMPTY_CODE_HASH } from "../../state/account.ts";
import type { StateReader } from "../../state/reader.ts";
import { EMPTY_TRIE_ROOT } from "../../types/constants.ts";

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
  /** Hash of the first account that was left out; undefined when there is none. */
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
  /** Called now and then while addresses are searched; throws when that takes too long. */
  readonly assertInTime: () => void;
};

export type DumpSource = {
  readonly state: StateReader;
  /** Every address that has or had an account, in any order. */
  readonly addresses: Iterable<Address>;
  readonly storageRootOf: (address: Address) => Hash | undefined;
};

/** Addresses hashed before other work gets its turn: some 10 ms. */
const SLICE = 5_000;
/** Characters of JSON around the values of one account, and of one slot. */
const ACCOUNT_CHARS = 500;
const SLOT_CHARS = 140;

/** The accounts of a state in the order of the account trie, which is that of their hashes. */
export async function dumpState(
  { state, addresses, storageRootOf }: DumpSource,
  { start, accountsMax, withCode, withStorage, take, assertInTime }: DumpOptions,
): Promise<StateDump> {
  const found = await accountsFrom(
    { start: startHash(start), countMax: accountsMax + 1 },
    { state, addresses },
    assertInTime,
  );
  const accounts = found.slice(0, accountsMax).map((each) => {
    take(ACCOUNT_CHARS);
    return dumpAccount(each, { state, storageRootOf }, { withCode, withStorage, take });
  });
  return { accounts, next: found[accountsMax]?.hash };
}

/** Every account of a state, one by one, in the order of `dumpState`. Takes some 150 bytes of memory for each. */
export function* dumpWholeState({
  state,
  addresses,
  storageRootOf,
}: DumpSource): Generator<DumpedAccount> {
  const hashed = Array.from(addresses, (address) => ({
    address,
    hash: hashFromBytes(keccak256OfHex(address)),
  })).sort((a, b) => (a.hash < b.hash ? -1 : 1));
  const options = { withCode: true, withStorage: true, take() {} };
  for (const { address, hash } of hashed) {
    const account = state.account(address);
    if (account === undefined) continue;
    yield dumpAccount({ address, hash, account }, { state, storageRootOf }, options);
  }
}

function dumpAccount(
  { hash, address, account }: Found,
  { state, storageRootOf }: Pick<DumpSource, "state" | "storageRootOf">,
  { withCode, withStorage, take }: Pick<DumpOptions, "withCode" | "withStorage" | "take">,
): DumpedAccount {
  const code =
    withCode && account.codeHash !== EMPTY_CODE_HASH ? state.code(account.codeHash) : EMPTY_BYTES;
  take(2 * code.length);
  const storage: (readonly [Hash, bigint])[] = [];
  if (withStorage) {
    for (const entry of state.storageEntries(address)) {
      take(SLOT_CHARS);
      storage.push(entry);
    }
  }
  return {
    ...account,
    ...{ address, hash, code, storage },
    storageRoot: storageRootOf(address) ?? EMPTY_TRIE_ROOT,
  };
}

type Found = { readonly hash: Hash; readonly address: Address; readonly account: Account };

/** The `countMax` accounts with the lowest hashes from `start`, ascending. Hashes every address once. */
async function accountsFrom(
  { start, countMax }: { readonly start: Hash; readonly countMax: number },
  { state, addresses }: Pick<DumpSource, "state" | "addresses">,
  assertInTime: () => void,
): Promise<Found[]> {
  let found: Found[] = [];
  let last: Hash | undefined;
  let count = 0;
  const trim = () => {
    found.sort((a, b) => (a.hash < b.hash ? -1 : 1));
    found = found.slice(0, countMax);
    last = found.length === countMax ? found.at(-1)?.hash : undefined;
  };
  for (const address of addresses) {
    if (++count % SLICE === 0) {
      await setImmediate();
      assertInTime();
    }
    const hash = hashFromBytes(keccak256OfHex(address));
    if (hash < start || (last !== undefined && hash > last)) continue;
    const account = state.account(address);
    if (account === undefined) continue;
    found.push({ hash, address, account });
    if (found.length >= 2 * countMax) trim();
  }
  trim();
  return found;
}

/** @param start 32 bytes, or fewer, which zeros follow */
export function startHash(start: Uint8Array): Hash {
  const bytes = new Uint8Array(32);
  bytes.set(start.subarray(0, 32));
  return hashFromBytes(bytes);
}
