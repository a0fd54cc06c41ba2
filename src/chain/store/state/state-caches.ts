import { type Address, addressToBytes } from "../../../base/primitives/address.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import { type Hash, hashToBytes } from "../../../base/primitives/hash.ts";
import type { Account } from "../../../evm/state/account.ts";
import type { StateChanges } from "../../../evm/state/reader.ts";
import type { VersionedTable } from "../../../store/storage/versioned-table.ts";
import { type ChangeRows, decodeAccount, slotKey } from "../../records/changes-record.ts";
import { type LatestState, LatestValues } from "./latest-values.ts";

/** Of an account without code; its code hash takes 80 bytes more. Measured with keys and the space of the maps. */
const ACCOUNT_BYTES = 270;
/** Of a slot, and of the map for the slots of one account. */
const SLOT_BYTES = 165;
const SLOT_MAP_BYTES = 300;

/** What was read of a state lately, decoded: nearly every call reads the same few accounts. */
export class DecodedValues {
  readonly #index: LatestState;
  readonly #bytesMax: number;
  /** undefined: known not to exist */
  readonly #accounts = new Map<Address, Account | undefined>();
  readonly #slots = new Map<Address, Map<Hash, bigint>>();
  #slotCount = 0;

  /** @param bytesMax memory; beyond it everything is forgotten and read again. 0: nothing is stored */
  constructor(index: LatestState, bytesMax: number) {
    this.#index = index;
    this.#bytesMax = bytesMax;
  }

  /** Memory of what is decoded. */
  get bytes(): number {
    return this.#accounts.size * ACCOUNT_BYTES + this.#slotCount * SLOT_BYTES + this.#slots.size * SLOT_MAP_BYTES;
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
    if (this.bytes === 0) return;
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
    if (this.#bytesMax === 0) return;
    if (this.bytes >= this.#bytesMax) this.forget();
    this.#accounts.set(address, account);
  }

  #addSlot(address: Address, slot: Hash, value: bigint): void {
    if (this.#bytesMax === 0) return;
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

/** Percent of the memory for decoded values, some objects each, which the garbage collector visits; the rest is bytes. */
const DECODED_SHARE = 10;

/** Of an account: most have 12 bytes, with a code 44. Of a slot: all. */
const ACCOUNT_LENGTHS = { keyLength: 20, valueMax: 44 };
const SLOT_LENGTHS = { keyLength: 52, valueMax: 32 };

/**
 * The state after the newest block, with what was read of it or written lately in memory. Code that moves the head must call `apply` or
 * `forget`, or the answers are those of another block.
 */
export class HeadState {
  readonly #accounts: LatestValues;
  readonly #slots: LatestValues;
  readonly decoded: DecodedValues;

  /**
   * @param bytesMax memory, about
   * @param decodes false: no value stays decoded, which is for blocks that read each of theirs once
   */
  constructor(index: LatestState, bytesMax: number, decodes = true) {
    const decodedBytes = decodes ? Math.floor((bytesMax * DECODED_SHARE) / 100) : 0;
    const half = Math.floor((bytesMax - decodedBytes) / 2);
    this.#accounts = new LatestValues(index.accounts, ACCOUNT_LENGTHS, half);
    this.#slots = new LatestValues(index.slots, SLOT_LENGTHS, half);
    const latest = { accounts: this.#accounts, slots: this.#slots };
    this.decoded = new DecodedValues(latest, decodedBytes);
  }

  /** Memory that the values take. */
  get bytes(): number {
    return this.#accounts.bytes + this.#slots.bytes + this.decoded.bytes;
  }

  /** The block with these changes is the newest now. @param rows the same, as the index has them */
  apply(changes: StateChanges, rows: Pick<ChangeRows, "accounts" | "slots">): void {
    for (const { key, value } of rows.accounts) this.#accounts.set(key, value);
    for (const { key, value } of rows.slots) this.#slots.set(key, value);
    this.decoded.apply(changes);
  }

  /** Another block is the newest now. */
  forget(): void {
    this.#accounts.forget();
    this.#slots.forget();
    this.decoded.forget();
  }
}

/** A client that traces a block mostly asks for its neighbours too, or for the same block again. */
const STATES_MAX = 8;

export type DecodedState = Pick<DecodedValues, "account" | "storage">;

type VersionedState = {
  readonly accounts: Pick<VersionedTable, "at">;
  readonly slots: Pick<VersionedTable, "at">;
};

/**
 * What was read of the states after older blocks, decoded, of those used last. Reading one value costs a row, a record of the log and
 * two checksums; a trace of a block reads each of its accounts and slots again (`npm run bench -- trace`).
 *
 * Values of a block never change, so nothing is to be forgotten until blocks are rolled back.
 */
export class HistoricStates {
  readonly #index: VersionedState;
  readonly #assertNotPruned: (number: number) => void;
  readonly #statesMax: number;
  /** Of each state. */
  readonly #bytesMax: number;
  /** Least recently used first. */
  readonly #states = new Map<number, DecodedValues>();

  /**
   * @param assertNotPruned throws where the state after block `number` may have been removed
   * @param bytesMax memory of all states together
   */
  constructor(
    index: VersionedState,
    assertNotPruned: (number: number) => void,
    bytesMax: number,
    { statesMax = STATES_MAX } = {},
  ) {
    this.#index = index;
    this.#assertNotPruned = assertNotPruned;
    this.#statesMax = statesMax;
    this.#bytesMax = Math.floor(bytesMax / statesMax);
  }

  /** Memory of what is decoded. */
  get bytes(): number {
    let bytes = 0;
    for (const state of this.#states.values()) bytes += state.bytes;
    return bytes;
  }

  /** The state after block `number`, which must not be newer than the index. */
  at(number: number): DecodedState {
    const state = this.#states.get(number) ?? this.#open(number);
    this.#states.delete(number);
    this.#states.set(number, state);
    if (this.#states.size > this.#statesMax) {
      const [leastUsed] = this.#states.keys();
      this.#states.delete(leastUsed!);
    }
    return state;
  }

  /** Blocks were rolled back: there may be others with their numbers. */
  forget(): void {
    this.#states.clear();
  }

  #open(number: number): DecodedValues {
    const { accounts, slots } = this.#index;
    /** Asserts after the read, failed or not: what was removed before it is known to be removed by then. */
    const valuesOf = (table: VersionedState["accounts"]) => ({
      latest: (key: Uint8Array) => {
        try {
          return table.at(key, number);
        } finally {
          this.#assertNotPruned(number);
        }
      },
    });
    return new DecodedValues({ accounts: valuesOf(accounts), slots: valuesOf(slots) }, this.#bytesMax);
  }
}

/** Codes by hash, those read last, up to a number of bytes. Nothing ever replaces a code. */
export class RecentCodes {
  readonly #bytesMax: number;
  /** Least recently read first. */
  readonly #codes = new Map<Hash, Uint8Array>();
  #bytes = 0;
  /** The one read last, which is mostly read again: putting it behind all others costs a map's rehashing now and then. */
  #last: { readonly hash: Hash; readonly code: Uint8Array } | undefined;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(hash: Hash): Uint8Array | undefined {
    if (this.#last?.hash === hash) return this.#last.code;
    const code = this.#codes.get(hash);
    if (code === undefined) return undefined;
    this.#codes.delete(hash);
    this.#codes.set(hash, code);
    this.#last = { hash, code };
    return code;
  }

  /** @param code of a hash that `get` did not find */
  add(hash: Hash, code: Uint8Array): void {
    if (code.length > this.#bytesMax) return;
    this.#codes.set(hash, code);
    this.#last = { hash, code };
    this.#bytes += code.length;
    for (const [leastUsed, { length }] of this.#codes) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#codes.delete(leastUsed);
      this.#bytes -= length;
    }
  }
}
