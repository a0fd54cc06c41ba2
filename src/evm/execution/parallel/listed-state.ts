import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import type { AccountAccess, BlockAccessList, IndexedValue } from "../../../base/types/block-access-list.ts";
import { type Account, EMPTY_ACCOUNT, isEmptyAccount } from "../../state/account.ts";
import type { StateReader } from "../../state/reader.ts";

/** An entry of a list, with what is looked up in it often. */
type Listed = {
  readonly account: AccountAccess;
  /** Hashes of `codeChanges`. */
  readonly codeHashes: readonly Hash[];
  /** Created with the first read of a slot. */
  slots: ReadonlyMap<Hash, readonly IndexedValue[]> | undefined;
};

/** One block access list as a layer over the state before its block. */
export class ListedChanges {
  readonly #accounts = new Map<Address, Listed>();
  readonly #codes = new Map<Hash, Uint8Array>();

  constructor(list: BlockAccessList) {
    for (const account of list) {
      const codeHashes = account.codeChanges.map(({ code }) => {
        const hash = keccak256Hash(code);
        this.#codes.set(hash, code);
        return hash;
      });
      this.#accounts.set(account.address, { account, codeHashes, slots: undefined });
    }
  }

  /** The state over `base` with all changes of an index below `index`. */
  before(index: number, base: StateReader): StateReader {
    const storage = (address: Address, slot: Hash): bigint =>
      this.#valueOf(address, slot, index) ?? base.storage(address, slot);
    return {
      account: (address) => this.#accountOf(address, index, base.account(address)),
      storage,
      code: (codeHash) => this.#codes.get(codeHash) ?? base.code(codeHash),
      storageEntries: (address) => this.#entriesOf(address, index, base),
    };
  }

  #accountOf(address: Address, index: number, before: Account | undefined): Account | undefined {
    const listed = this.#accounts.get(address);
    if (listed === undefined) return before;
    const { balanceChanges, nonceChanges, codeChanges } = listed.account;
    const balance = countBefore(balanceChanges, index);
    const nonce = countBefore(nonceChanges, index);
    const code = countBefore(codeChanges, index);
    if (balance + nonce + code === 0) return before;
    const old = before ?? EMPTY_ACCOUNT;
    const account = {
      nonce: nonce === 0 ? old.nonce : nonceChanges[nonce - 1]!.value,
      balance: balance === 0 ? old.balance : balanceChanges[balance - 1]!.value,
      codeHash: code === 0 ? old.codeHash : listed.codeHashes[code - 1]!,
    };
    return isEmptyAccount(account) ? undefined : account;
  }

  #valueOf(address: Address, slot: Hash, index: number): bigint | undefined {
    const listed = this.#accounts.get(address);
    if (listed === undefined) return undefined;
    listed.slots ??= new Map(listed.account.storageChanges.map(({ slot: key, changes }) => [key, changes]));
    const changes = listed.slots.get(slot);
    if (changes === undefined) return undefined;
    const count = countBefore(changes, index);
    return count === 0 ? undefined : changes[count - 1]!.value;
  }

  *#entriesOf(address: Address, index: number, base: StateReader): Iterable<readonly [slot: Hash, value: bigint]> {
    for (const entry of base.storageEntries(address)) {
      if (this.#valueOf(address, entry[0], index) === undefined) yield entry;
    }
    for (const { slot } of this.#accounts.get(address)?.account.storageChanges ?? []) {
      const value = this.#valueOf(address, slot, index);
      if (value) yield [slot, value];
    }
  }
}

/** Number of the ascending `entries` whose index is below `index`. An account can have as many entries as the block has transactions. */
function countBefore(entries: readonly { readonly index: number }[], index: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]!.index < index) low = middle + 1;
    else high = middle;
  }
  return low;
}
