import { InvariantError } from "../../base/errors.ts";
import type { Address } from "../../base/primitives/address.ts";
import { bytesToBigint, readBigint } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../base/primitives/hash.ts";
import { bytesToHex, hexDigits } from "../../base/primitives/hex.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import type { Account } from "../../evm/state/account.ts";
import type { AccountChange, StateChanges } from "../../evm/state/reader.ts";
import { type ByteReader, ByteWriter, MalformedBytesError } from "../../store/storage/byte-io.ts";
import { crc32Of, extendCrc32 } from "../../store/storage/crc32.ts";

/**
 * State changes in the block log. A read of the state after a block reads single entries, so each entry carries its key and a checksum.
 *
 *     changes   count ‖ account* ‖ count ‖ (code hash 32 ‖ length ‖ code)*
 *     account   flags ‖ account entry ‖ count ‖ slot entry*
 *     flags     1: storage cleared, 2: the account's own fields are as before the block
 *     account entry   crc32 of the rest ‖ value length ‖ address 20 ‖ account value
 *     slot entry      crc32 of address and the rest ‖ slot length ‖ value length ‖ slot ‖ value
 *
 * Slots and their values have no leading zeros. An empty value means that the account was deleted, or that the slot is 0.
 */
const CLEARED = 1;
const UNCHANGED = 2;

const ADDRESS_LENGTH = 20;
const SLOT_LENGTH = 32;
const HASH_LENGTH = 32;
const SLOT_HEADER_LENGTH = 6;

/** No account entry is longer: 25 bytes, then 1 ‖ nonce 8 ‖ code hash 32 ‖ balance 32. */
export const ACCOUNT_ENTRY_BYTES_MAX = 98;
/** No slot entry is longer. */
export const SLOT_ENTRY_BYTES_MAX = 70;

/** One entry in the form of the rows of the index. */
export type ChangeRow = {
  /** address, or address ‖ slot */
  readonly key: Uint8Array;
  /** undefined: deleted */
  readonly value: Uint8Array | undefined;
  /** of the entry, from the front of the payload */
  readonly offset: number;
};

export type ChangeRows = {
  /** without accounts whose own fields are as before */
  readonly accounts: readonly ChangeRow[];
  readonly slots: readonly ChangeRow[];
  readonly codes: readonly { readonly hash: Uint8Array; readonly code: Uint8Array }[];
};

/** Where an entry was written: its first byte, its address, the end of its slot, undefined for an account, and its own end. */
type WrittenEntry = {
  readonly offset: number;
  readonly address: number;
  readonly slotEnd?: number;
  readonly end: number;
};

/**
 * @param unchanged accounts that are in `changes` only for their slots
 * @returns the entries for which the index has rows, in order
 */
export function writeChanges(
  writer: ByteWriter,
  changes: StateChanges,
  unchanged: ReadonlySet<Address>,
): readonly WrittenEntry[] {
  const written: WrittenEntry[] = [];
  writer.varint(changes.accounts.length);
  for (const change of changes.accounts) {
    const isUnchanged = unchanged.has(change.address);
    writer.byte((change.storageCleared ? CLEARED : 0) | (isUnchanged ? UNCHANGED : 0));
    const entry = writeAccountEntry(writer, change);
    if (!isUnchanged) written.push(entry);
    writer.varint(change.storage.size);
    if (change.storage.size === 0) continue;
    const { address } = entry;
    const seed = writer.checksum(address, address + ADDRESS_LENGTH);
    for (const [slot, value] of change.storage) written.push(writeSlotEntry(writer, seed, address, slot, value));
  }
  writer.varint(changes.codes.size);
  for (const [hash, code] of changes.codes) {
    writer.hex(hash);
    writer.block(code);
  }
  return written;
}

/** The rows that `readChangeRows` would read from `payload`, without reading it: `writeChanges` returned the places of its entries. */
export function rowsOfWritten(
  payload: Uint8Array,
  written: readonly WrittenEntry[],
  { codes }: Pick<StateChanges, "codes">,
): ChangeRows {
  const accounts: ChangeRow[] = [];
  const slots: ChangeRow[] = [];
  for (const { offset, address, slotEnd, end } of written) {
    const addressEnd = address + ADDRESS_LENGTH;
    const owner = payload.subarray(address, addressEnd);
    const valueStart = slotEnd ?? addressEnd;
    const value = valueStart === end ? undefined : payload.subarray(valueStart, end);
    if (slotEnd === undefined) accounts.push({ key: owner, value, offset });
    else slots.push({ key: slotKey(owner, payload.subarray(offset + SLOT_HEADER_LENGTH, slotEnd)), value, offset });
  }
  return { accounts, slots, codes: codeRows(codes) };
}

function codeRows(codes: StateChanges["codes"]): ChangeRows["codes"] {
  return Array.from(codes, ([hash, code]) => ({ hash: hashToBytes(hash), code }));
}

/** Changes that make a state of nothing, as they are in a record. */
export function encodeChanges(changes: StateChanges): Uint8Array {
  const writer = new ByteWriter(1024 + changes.accounts.length * 64);
  writeChanges(writer, changes, NO_ADDRESSES);
  return writer.finish();
}

const NO_ADDRESSES: ReadonlySet<Address> = new Set();

/** The changes in both forms, each entry read once. @throws MalformedBytesError */
export function readChangesAndRows(reader: ByteReader): {
  readonly changes: StateChanges;
  readonly rows: ChangeRows;
} {
  const accounts: ChangeRow[] = [];
  const slots: ChangeRow[] = [];
  const changes = readChanges(reader, { accounts, slots });
  return { changes, rows: { accounts, slots, codes: codeRows(changes.codes) } };
}

type RowLists = { readonly accounts: ChangeRow[]; readonly slots: ChangeRow[] };

/** @param rows take the entries for the index too. @throws MalformedBytesError */
export function readChanges(reader: ByteReader, rows?: RowLists): StateChanges {
  const accounts: AccountChange[] = [];
  for (let left = reader.varint(); left > 0; left--) {
    const flags = reader.byte();
    const offset = reader.offset;
    const { address, value } = readAccountEntry(reader);
    if ((flags & UNCHANGED) === 0) {
      rows?.accounts.push({ key: address, value: present(value), offset });
    }
    accounts.push({
      address: bytesToHex(address) as Address,
      account: value.length === 0 ? null : decodeAccount(value),
      storage: readSlots(reader, address, rows),
      storageCleared: (flags & CLEARED) !== 0,
    });
  }
  const codes = new Map<Hash, Uint8Array>();
  for (let left = reader.varint(); left > 0; left--) {
    codes.set(reader.hex(32) as Hash, reader.block());
  }
  return { accounts, codes };
}

function readSlots(reader: ByteReader, address: Uint8Array, rows: RowLists | undefined): ReadonlyMap<Hash, bigint> {
  const count = reader.varint();
  // Most accounts have none: a map less for each of them.
  if (count === 0) return NO_SLOTS;
  const slots = new Map<Hash, bigint>();
  for (let left = count; left > 0; left--) {
    const offset = reader.offset;
    const { slot, value } = readSlotEntry(reader);
    rows?.slots.push({ key: slotKey(address, slot), value: present(value), offset });
    slots.set(hashOfSlot(slot), bytesToBigint(value));
  }
  return slots;
}

const NO_SLOTS: ReadonlyMap<Hash, bigint> = new Map();

/** Only the accounts of the changes, decoded lazily. */
export function* readChangedAddresses(reader: ByteReader): Generator<Address> {
  for (let left = reader.varint(); left > 0; left--) {
    reader.byte();
    const { address } = readAccountEntry(reader);
    for (let slots = reader.varint(); slots > 0; slots--) readSlotEntry(reader);
    yield bytesToHex(address) as Address;
  }
}

/** The keys of all entries, address or address ‖ slot, decoded lazily. */
export function* readChangedKeys(reader: ByteReader): Generator<Uint8Array> {
  for (let left = reader.varint(); left > 0; left--) {
    reader.byte();
    const { address } = readAccountEntry(reader);
    yield address;
    for (let slots = reader.varint(); slots > 0; slots--) {
      yield slotKey(address, readSlotEntry(reader).slot);
    }
  }
}

/** The same entries for the index, without making accounts and numbers of them. */
export function readChangeRows(reader: ByteReader): ChangeRows {
  const accounts: ChangeRow[] = [];
  const slots: ChangeRow[] = [];
  for (let left = reader.varint(); left > 0; left--) {
    const flags = reader.byte();
    const offset = reader.offset;
    const { address, value } = readAccountEntry(reader);
    if ((flags & UNCHANGED) === 0) accounts.push({ key: address, value: present(value), offset });
    for (let count = reader.varint(); count > 0; count--) {
      const offset = reader.offset;
      const { slot, value } = readSlotEntry(reader);
      slots.push({ key: slotKey(address, slot), value: present(value), offset });
    }
  }
  const codes: { hash: Uint8Array; code: Uint8Array }[] = [];
  for (let left = reader.varint(); left > 0; left--) {
    codes.push({ hash: reader.bytes(32), code: reader.block() });
  }
  return { accounts, slots, codes };
}

/**
 * The value in the account entry that `bytes` begin with, undefined when the account was deleted;
 * null when these bytes are not an undamaged entry of `address`.
 */
export function accountEntryValue(bytes: Uint8Array, address: Uint8Array): Uint8Array | undefined | null {
  const length = bytes[4]!;
  const end = 25 + length;
  if (!(end <= bytes.length)) return null;
  const entry = Buffer.from(bytes.buffer, bytes.byteOffset, end);
  if (entry.readUInt32LE(0) !== crc32Of(entry, 4, end)) return null;
  if (entry.compare(address, 0, ADDRESS_LENGTH, 5, 25) !== 0) return null;
  return present(entry.subarray(25));
}

/** The same for the slot entry of `key`, address ‖ slot. */
export function slotEntryValue(bytes: Uint8Array, key: Uint8Array): Uint8Array | undefined | null {
  const slotLength = bytes[4]!;
  const end = 6 + slotLength + bytes[5]!;
  if (!(end <= bytes.length)) return null;
  const entry = Buffer.from(bytes.buffer, bytes.byteOffset, end);
  const address = key.subarray(0, ADDRESS_LENGTH);
  if (entry.readUInt32LE(0) !== extendCrc32(crc32Of(address, 0, ADDRESS_LENGTH), entry, 4, end)) return null;
  if (Buffer.compare(slotKey(address, entry.subarray(6, 6 + slotLength)), key) !== 0) return null;
  return present(entry.subarray(6 + slotLength));
}

/**
 * Account as bytes: nonce length, plus 128 for an account with code ‖ nonce ‖ code hash if it has
 * code ‖ balance. Numbers are big-endian without leading zeros. No account at all: no bytes.
 */
export function writeAccount(writer: ByteWriter, { nonce, codeHash, balance }: Account): void {
  const start = writer.length;
  writer.bigint(nonce);
  if (codeHash !== EMPTY_CODE_HASH) {
    writer.patchByte(start, (writer.length - start - 1) | 0x80);
    writer.hex(codeHash);
  }
  writer.bigint(balance, false);
}

/** @throws MalformedBytesError */
export function decodeAccount(value: Uint8Array): Account {
  const head = value[0] ?? 0;
  const nonceEnd = 1 + (head & 0x7f);
  const hasCode = (head & 0x80) !== 0;
  const balanceStart = hasCode ? nonceEnd + HASH_LENGTH : nonceEnd;
  if (balanceStart > value.length) throw new MalformedBytesError("account ends early");
  return {
    nonce: readBigint(value, 1, nonceEnd),
    balance: readBigint(value, balanceStart, value.length),
    codeHash: hasCode ? hashFromBytes(value.subarray(nonceEnd, balanceStart)) : EMPTY_CODE_HASH,
  };
}

function writeAccountEntry(writer: ByteWriter, { address, account }: AccountChange): WrittenEntry {
  const offset = writer.length;
  writer.skip(5);
  writer.hex(address);
  if (account !== null) writeAccount(writer, account);
  const end = writer.length;
  writer.patchByte(offset + 4, end - offset - 25);
  writer.patchU32(offset, writer.checksum(offset + 4, end));
  return { offset, address: offset + 5, end };
}

function writeSlotEntry(
  writer: ByteWriter,
  seed: number,
  address: number,
  slot: Hash,
  value: bigint,
): Required<WrittenEntry> {
  const offset = writer.length;
  writer.skip(SLOT_HEADER_LENGTH);
  writer.bytes(withoutLeadingZeros(hashToBytes(slot)));
  const slotEnd = writer.length;
  writer.bigint(value, false);
  const end = writer.length;
  writer.patchByte(offset + 4, slotEnd - offset - SLOT_HEADER_LENGTH);
  writer.patchByte(offset + 5, end - slotEnd);
  writer.patchU32(offset, writer.checksum(offset + 4, end, seed));
  return { offset, address, slotEnd, end };
}

function readAccountEntry(reader: ByteReader): { address: Uint8Array; value: Uint8Array } {
  reader.u32();
  const length = reader.byte();
  return { address: reader.bytes(ADDRESS_LENGTH), value: reader.bytes(length) };
}

function readSlotEntry(reader: ByteReader): { slot: Uint8Array; value: Uint8Array } {
  reader.u32();
  const slotLength = reader.byte();
  const valueLength = reader.byte();
  return { slot: reader.bytes(slotLength), value: reader.bytes(valueLength) };
}

/** address ‖ slot, as the index has it. @param slot of 32 bytes or without its leading zeros */
export function slotKey(address: Uint8Array, slot: Uint8Array): Uint8Array {
  if (slot.length > SLOT_LENGTH) throw new InvariantError("a slot must have at most 32 bytes");
  const key = new Uint8Array(ADDRESS_LENGTH + SLOT_LENGTH);
  key.set(address);
  key.set(slot, key.length - slot.length);
  return key;
}

/** @param slot without its leading zeros */
function hashOfSlot(slot: Uint8Array): Hash {
  return `0x${hexDigits(slot).padStart(64, "0")}` as Hash;
}

function withoutLeadingZeros(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < bytes.length && bytes[start] === 0) start++;
  return bytes.subarray(start);
}

function present(value: Uint8Array): Uint8Array | undefined {
  return value.length === 0 ? undefined : value;
}
