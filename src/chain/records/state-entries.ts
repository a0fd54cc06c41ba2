import { ByteReader } from "../../store/storage/byte-io.ts";

const ADDRESS_LENGTH = 20;
/** Of an account entry: checksum, length of the value, address. */
const ACCOUNT_VALUE = 4 + 1 + ADDRESS_LENGTH;
/** Of a slot entry: checksum and both lengths. */
const SLOT_START = 4 + 1 + 1;
const SLOTS_MIN = 1_024;

/**
 * The accounts and slots in the changes of a block that makes all of its state, such as genesis: where each entry is, without an
 * object an entry. The form is that of changes-record.ts.
 */
export class StateEntries {
  readonly accountCount: number;
  /** Each entry has a value: none removes an account or clears a slot. */
  readonly isState: boolean;
  readonly codes: readonly { readonly hash: Uint8Array; readonly code: Uint8Array }[];
  readonly bytes: Uint8Array;
  readonly #accounts: Uint32Array;
  /** Number of the first slot of each account, and of the end of the last one's. */
  readonly #firstSlots: Uint32Array;
  #slots = new Uint32Array(SLOTS_MIN);

  constructor(bytes: Uint8Array) {
    // A view of a Buffer costs several times as much.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const reader = new ByteReader(bytes);
    this.accountCount = reader.varint();
    this.#accounts = new Uint32Array(this.accountCount);
    this.#firstSlots = new Uint32Array(this.accountCount + 1);
    let slot = 0;
    let isState = true;
    for (let account = 0; account < this.accountCount; account++) {
      // The flags.
      reader.offset++;
      const start = reader.offset;
      this.#accounts[account] = start;
      if (bytes[start + 4] === 0) isState = false;
      reader.offset = start + ACCOUNT_VALUE + bytes[start + 4]!;
      for (let slots = reader.varint(); slots > 0; slots--) {
        if (slot === this.#slots.length) this.#growSlots();
        this.#slots[slot++] = reader.offset;
        if (bytes[reader.offset + 5] === 0) isState = false;
        reader.offset += SLOT_START + bytes[reader.offset + 4]! + bytes[reader.offset + 5]!;
      }
      this.#firstSlots[account + 1] = slot;
    }
    this.isState = isState;
    const codes: { hash: Uint8Array; code: Uint8Array }[] = [];
    for (let left = reader.varint(); left > 0; left--) {
      codes.push({ hash: reader.bytes(32), code: reader.block() });
    }
    this.codes = codes;
  }

  /** Where the entry of account number `index` begins; the history of accounts refers to it. */
  accountOffset(index: number): number {
    return this.#accounts[index]!;
  }

  /** 20 bytes, a view. */
  address(index: number): Uint8Array {
    const start = this.#accounts[index]! + 5;
    return this.bytes.subarray(start, start + ADDRESS_LENGTH);
  }

  copyAddress(index: number, out: Uint8Array, offset: number): void {
    const bytes = this.bytes;
    const start = this.#accounts[index]! + 5;
    for (let i = 0; i < ADDRESS_LENGTH; i++) out[offset + i] = bytes[start + i]!;
  }

  /** Where the account value is in `bytes`, in the form of the record. */
  valueStart(index: number): number {
    return this.#accounts[index]! + ACCOUNT_VALUE;
  }

  valueEnd(index: number): number {
    const start = this.#accounts[index]!;
    return start + ACCOUNT_VALUE + this.bytes[start + 4]!;
  }

  /** Number of the first slot of account number `index`; its slots end where the next account's begin. */
  firstSlot(index: number): number {
    return this.#firstSlots[index]!;
  }

  get slotCount(): number {
    return this.#firstSlots[this.accountCount]!;
  }

  slotOffset(slot: number): number {
    return this.#slots[slot]!;
  }

  writeSlot(slot: number, out: Uint8Array, offset: number): void {
    const start = this.#slots[slot]!;
    const length = this.bytes[start + 4]!;
    out.fill(0, offset, offset + 32 - length);
    const bytes = this.bytes.subarray(start + SLOT_START, start + SLOT_START + length);
    out.set(bytes, offset + 32 - length);
  }

  /** Where the value of slot number `slot` is in `bytes`, without leading zeros. */
  slotValueStart(slot: number): number {
    const start = this.#slots[slot]!;
    return start + SLOT_START + this.bytes[start + 4]!;
  }

  slotValueEnd(slot: number): number {
    return this.slotValueStart(slot) + this.bytes[this.#slots[slot]! + 5]!;
  }

  #growSlots(): void {
    const grown = new Uint32Array(this.#slots.length * 2);
    grown.set(this.#slots);
    this.#slots = grown;
  }
}
