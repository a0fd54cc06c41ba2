import { ADDRESS_LENGTH, type Address, addressFromBytes, addressToBytes } from "../primitives/address.ts";
import { bytesToBigint, EMPTY_BYTES } from "../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../primitives/hash.ts";
import type { GenesisAccount } from "./genesis-account.ts";
import { KeyTable } from "./key-table.ts";

/** Lengths of the parts of accounts, and where they are in a row. Numbers are big-endian. */
export const PACKED = {
  /** address 20 ‖ nonce 8 ‖ balance 32 */
  accountLength: 60,
  nonceOffset: 20,
  balanceOffset: 28,
  /** slot 32 ‖ value 32, neither of them with leading zeros cut off */
  slotLength: 64,
  valueOffset: 32,
} as const;

/** The parts of accounts in the order of their file. */
export type PackedAccounts = {
  readonly count: number;
  readonly accounts: Uint8Array;
  readonly codes: Uint8Array;
  /** Where the code of each account begins, and where that of the last one ends. */
  readonly codeStarts: Uint32Array;
  readonly slots: Uint8Array;
  /** Number of the first slot of each account, and of the end of the last one's. No value is 0. */
  readonly slotStarts: Uint32Array;
};

/** The accounts of a genesis file as bytes, some 80 for one with a balance: a million of them take 300 MB as objects in a Map. */
export class PackedAlloc implements ReadonlyMap<Address, GenesisAccount> {
  readonly packed: PackedAccounts;
  readonly #table: KeyTable;

  constructor(packed: PackedAccounts) {
    this.packed = packed;
    this.#table = new KeyTable(packed.accounts, PACKED.accountLength, ADDRESS_LENGTH, packed.count);
  }

  /** No account is there twice. */
  get isUnique(): boolean {
    return this.#table.isUnique;
  }

  get size(): number {
    return this.packed.count;
  }

  has(address: Address): boolean {
    return this.#table.find(addressToBytes(address)) >= 0;
  }

  get(address: Address): GenesisAccount | undefined {
    const index = this.#table.find(addressToBytes(address));
    return index < 0 ? undefined : this.#account(index);
  }

  *keys(): MapIterator<Address> {
    for (let index = 0; index < this.size; index++) yield this.#address(index);
  }

  *values(): MapIterator<GenesisAccount> {
    for (let index = 0; index < this.size; index++) yield this.#account(index);
  }

  *entries(): MapIterator<[Address, GenesisAccount]> {
    for (let index = 0; index < this.size; index++) yield [this.#address(index), this.#account(index)];
  }

  [Symbol.iterator](): MapIterator<[Address, GenesisAccount]> {
    return this.entries();
  }

  forEach(visit: (account: GenesisAccount, address: Address, alloc: PackedAlloc) => void): void {
    for (const [address, account] of this) visit(account, address, this);
  }

  #address(index: number): Address {
    const start = index * PACKED.accountLength;
    return addressFromBytes(this.packed.accounts.subarray(start, start + ADDRESS_LENGTH));
  }

  #account(index: number): GenesisAccount {
    const { accounts, codes, codeStarts } = this.packed;
    const start = index * PACKED.accountLength;
    const balanceAt = start + PACKED.balanceOffset;
    const [codeStart, codeEnd] = [codeStarts[index]!, codeStarts[index + 1]!];
    return {
      balance: bytesToBigint(accounts.subarray(balanceAt, start + PACKED.accountLength)),
      nonce: bytesToBigint(accounts.subarray(start + PACKED.nonceOffset, balanceAt)),
      code: codeStart === codeEnd ? EMPTY_BYTES : codes.slice(codeStart, codeEnd),
      storage: this.#storage(index),
    };
  }

  #storage(index: number): ReadonlyMap<Hash, bigint> {
    const { slots, slotStarts } = this.packed;
    const storage = new Map<Hash, bigint>();
    for (let slot = slotStarts[index]!; slot < slotStarts[index + 1]!; slot++) {
      const start = slot * PACKED.slotLength;
      const value = start + PACKED.valueOffset;
      storage.set(
        hashFromBytes(slots.subarray(start, value)),
        bytesToBigint(slots.subarray(value, start + PACKED.slotLength)),
      );
    }
    return storage;
  }
}
