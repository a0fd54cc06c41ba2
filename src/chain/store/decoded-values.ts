import { type Address, addressToBytes } from "../../primitives/address.ts";
import { bytesToBigint } from "../../primitives/bytes.ts";
import { type Hash, hashToBytes } from "../../primitives/hash.ts";
import type { Account } from "../../state/account.ts";
import type { StateChanges } from "../../state/reader.ts";
import { decodeAccount, slotKey } from "../records/changes-record.ts";

/** Of an account without code; its code hash takes 80 bytes more. Measured with keys and the space of the maps. */
const ACCOUNT_BYTES = 270;
/** Of a slot, and of the map for the slots of one account. */
const SLOT_BYTES = 165;
const SLOT_MAP_BYTES = 300;

/** Newest values by key, encoded. */
export type Latest = { latest(key: Uint8Array): Uint8Array | undefined };
export type LatestState = { readonly accounts: Latest; readonly slots: Latest };

/** What was read of a state lately, decoded: nearly every call reads the same few accounts. */
export class DecodedValues {
  readonly #index: LatestState;
  readonly #bytesMax: number;
  /** undefined: known not to exist */
  readonly #accounts = new Map<Address, Account | undefined>();
  readonly #slots = new Map<Address, Map<Hash, bigint>>();
  #slotCount = 0;

  /** @param bytesMax memory; beyond it everything is forgotten and read again */
  constructor(index: LatestState, bytesMax: number) {
    this.#index = index;
    this.#bytesMax = bytesMax;
  }

  /** Memory of what is decoded. */
  get bytes(): number {
    return (
      this.#accounts.size * ACCOUNT_BYTES +
      this.#slotCount * SLOT_BYTES +
      this.#slots.size * SLOT_MAP_BYTES
    );
  }

  account(address: Address): Account | undefined {
    const known = this.#accounts.get(address);
    if (known !== undefined || this.#accounts.has(address)) return known;
    const value = this.#index.accounts.latest(addressToBytes(address));
    const account = value && decodeAccount(value);
    this.#addAccount(address, account);
    return account;
  }

  storage(address: Address, slot: Hash): bigint {
    const known = this.#slots.get(address)?.get(slot);
    if (known !== undefined) return known;
    const bytes = this.#index.slots.latest(slotKey(addressToBytes(address), hashToBytes(slot)));
    const value = bytes === undefined ? 0n : bytesToBigint(bytes);
    this.#addSlot(address, slot, value);
    return value;
  }

  /** Values of the state have changed. What is not here stays out: most of it is not read again soon. */
  apply({ accounts }: StateChanges): void {
    for (const { address, account, storage, storageCleared } of accounts) {
      if (this.#accounts.has(address)) this.#accounts.set(address, account ?? undefined);
      if (storageCleared) this.#forgetSlots(address);
      const slots = this.#slots.get(address);
      if (slots === undefined) continue;
      for (const [slot, value] of storage) if (slots.has(slot)) slots.set(slot, value);
    }
  }

  /** The state is another one. */
  forget(): void {
    this.#accounts.clear();
    this.#slots.clear();
    this.#slotCount = 0;
  }

  #addAccount(address: Address, account: Account | undefined): void {
    if (this.bytes >= this.#bytesMax) this.forget();
    this.#accounts.set(address, account);
  }

  #addSlot(address: Address, slot: Hash, value: bigint): void {
    if (this.bytes >= this.#bytesMax) this.forget();
    let slots = this.#slots.get(address);
    if (slots === undefined) {
      slots = new Map();
      this.#slots.set(address, slots);
    }
    this.#slotCount -= slots.size;
    slots.set(slot, value);
    this.#slotCount += slots.size;
  }

  #forgetSlots(address: Address): void {
    this.#slotCount -= this.#slots.get(address)?.size ?? 0;
    this.#slots.delete(address);
  }
}
