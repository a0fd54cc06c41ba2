import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Account } from "../../state/account.ts";
import type { StateChanges } from "../../state/reader.ts";
import type { ChangeRows } from "../records/changes-record.ts";
import { DecodedValues, type LatestState } from "./decoded-values.ts";
import { LatestValues } from "./latest-values.ts";

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
  readonly #decoded: DecodedValues;

  /** @param bytesMax memory, about */
  constructor(index: LatestState, bytesMax: number) {
    const decodedBytes = Math.floor((bytesMax * DECODED_SHARE) / 100);
    const half = Math.floor((bytesMax - decodedBytes) / 2);
    this.#accounts = new LatestValues(index.accounts, ACCOUNT_LENGTHS, half);
    this.#slots = new LatestValues(index.slots, SLOT_LENGTHS, half);
    const latest = { accounts: this.#accounts, slots: this.#slots };
    this.#decoded = new DecodedValues(latest, decodedBytes);
  }

  /** Memory that the values take. */
  get bytes(): number {
    return this.#accounts.bytes + this.#slots.bytes + this.#decoded.bytes;
  }

  account(address: Address): Account | undefined {
    return this.#decoded.account(address);
  }

  storage(address: Address, slot: Hash): bigint {
    return this.#decoded.storage(address, slot);
  }

  /** The block with these changes is the newest now. @param rows the same, as the index has them */
  apply(changes: StateChanges, rows: Pick<ChangeRows, "accounts" | "slots">): void {
    for (const { key, value } of rows.accounts) this.#accounts.set(key, value);
    for (const { key, value } of rows.slots) this.#slots.set(key, value);
    this.#decoded.apply(changes);
  }

  /** Another block is the newest now. */
  forget(): void {
    this.#accounts.forget();
    this.#slots.forget();
    this.#decoded.forget();
  }
}
