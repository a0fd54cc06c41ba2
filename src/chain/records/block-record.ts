import type { Address } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { allAtOnce } from "../../base/threads/in-slices.ts";
import type { Block, Withdrawal } from "../../base/types/block.ts";
import type { Header } from "../../base/types/header.ts";
import type { Receipt } from "../../base/types/receipt.ts";
import { decodeTransaction } from "../../base/types/transaction/decode.ts";
import { includedHash, isUnsigned } from "../../base/types/transaction/impersonation.ts";
import type { Transaction } from "../../base/types/transaction/transaction.ts";
import type { StateChanges } from "../../evm/state/reader.ts";
import { ByteReader, ByteWriter, MalformedBytesError } from "../../store/storage/byte-io.ts";
import type { BlockRecord, GasPayment, RecordItem } from "../block-store.ts";
import type { AddressParts } from "./block-addresses.ts";
import {
  type ChangeRows,
  readChangedAddresses,
  readChangedKeys,
  readChangeRows,
  readChanges,
  rowsOfWritten,
  writeChanges,
} from "./changes-record.ts";
import { assertRecordKind, RECORD_KIND, readHeader, writeHeader } from "./header-record.ts";
import { readReceipt, readReceiptGas, writeReceipt } from "./receipt-record.ts";

/**
 * One block in the block log. Parts with their own checksum can be read separately.
 *
 *     record    prefix ‖ header ‖ crc32 ‖ offset of each item, and of the end of the last ‖ item*
 *               ‖ uncles ‖ withdrawals ‖ length ‖ consensus data ‖ list? ‖ changes (changes-record.ts)
 *     list      length ‖ RLP of the block access list, empty where it is unknown; in version 2 only
 *     prefix    kind u8 ‖ version u8 ‖ 0 u16 ‖ crc32 of what follows ‖ number u64 ‖ block hash 32
 *               ‖ transactions ‖ offset of the offsets ‖ of the uncles ‖ of the changes     64 bytes
 *     item      crc32 of the rest ‖ sender 20 ‖ logs of the block before its own
 *               ‖ length ‖ canonical transaction ‖ receipt
 *
 * Integers of the prefix, offsets and checksums are u32 little-endian unless a size is named; other counts and
 * lengths are varints. A transaction's hash is computed; its sender is stored because recovering it costs a
 * hundred times more.
 */
export const PREFIX_LENGTH = 64;
const VERSION = 1;
/** The block has the header fields of Amsterdam and an access list: programs that do not know them reject the version by name. */
const VERSION_AMSTERDAM = 2;

const CHECKSUM_OFFSET = 4;
const NUMBER_OFFSET = 8;
const HASH_OFFSET = 16;
const COUNTS_OFFSET = 48;

const CHECKSUM_LENGTH = 4;
const OFFSET_LENGTH = 4;
/** The last of the counts and offsets. */
const CHANGES_OFFSET_AT = COUNTS_OFFSET + 3 * OFFSET_LENGTH;

const NO_WITHDRAWALS_FIELD = 0;

/** Transactions decoded between two looks at the clock: some 0.2 ms. */
const ITEMS_A_STEP = 32;

/** The first bytes of a record: what the block is called and where its parts are. Offsets count from its first byte. */
export type RecordPrefix = {
  readonly number: number;
  readonly hash: Hash;
  readonly transactionCount: number;
  /** of the offsets of the items; the header ends 4 bytes before */
  readonly offsetsOffset: number;
  /** of the uncles, withdrawals and consensus data */
  readonly restOffset: number;
  readonly changesOffset: number;
};

/**
 * The record as bytes.
 * @param unchanged accounts that are in the changes only for their slots
 */
export function encodeBlockRecord(record: BlockRecord, unchanged: ReadonlySet<Address>): Uint8Array {
  return encodeIndexedRecord(record, unchanged).payload;
}

/** The same with the rows of its changes, whose keys and values are views of it. */
export function encodeIndexedRecord(
  record: BlockRecord,
  unchanged: ReadonlySet<Address>,
): { readonly payload: Uint8Array; readonly rows: ChangeRows } {
  const { block, changes } = record;
  const writer = new ByteWriter(1024 + block.transactions.length * 384);
  writeBlock(writer, record);
  const written = writeChanges(writer, changes, unchanged);
  const payload = writer.finish();
  return { payload, rows: rowsOfWritten(payload, written, changes) };
}

/** The same with the changes as `encodeChanges` has them, and where in the record those begin. */
export function joinBlockRecord(
  record: Omit<BlockRecord, "changes">,
  changes: Uint8Array,
): { readonly payload: Uint8Array; readonly offset: number } {
  const writer = new ByteWriter(1024 + changes.length);
  writeBlock(writer, record);
  const offset = writer.length;
  writer.bytes(changes);
  return { payload: writer.finish(), offset };
}

export function writeBlock(writer: ByteWriter, record: Omit<BlockRecord, "changes">): void {
  const { block, senders, receipts, consensusData, accessList = EMPTY_BYTES } = record;
  const { header, transactions } = block;
  writer.byte(RECORD_KIND.block);
  writer.byte(header.blockAccessListHash === undefined ? VERSION : VERSION_AMSTERDAM);
  writer.skip(COUNTS_OFFSET - 2);
  writer.patchU64(NUMBER_OFFSET, header.number);
  writer.patchHex(HASH_OFFSET, block.hash);
  writer.skip(PREFIX_LENGTH - COUNTS_OFFSET);

  writeHeader(writer, header);
  writer.u32(writer.checksum(PREFIX_LENGTH, writer.length));

  const offsetsOffset = writer.length;
  writer.skip((transactions.length + 1) * OFFSET_LENGTH);
  let firstLogIndex = 0;
  for (const [index, { raw }] of transactions.entries()) {
    const start = writer.length;
    writer.patchU32(offsetsOffset + index * OFFSET_LENGTH, start);
    writer.skip(CHECKSUM_LENGTH);
    writer.hex(senders[index]!);
    writer.varint(firstLogIndex);
    writer.block(raw);
    writeReceipt(writer, receipts[index]!);
    writer.patchU32(start, writer.checksum(start + CHECKSUM_LENGTH, writer.length));
    firstLogIndex += receipts[index]!.logs.length;
  }
  const restOffset = writer.length;
  writer.patchU32(offsetsOffset + transactions.length * OFFSET_LENGTH, restOffset);
  writer.varint(block.uncles.length);
  for (const uncle of block.uncles) writeHeader(writer, uncle);
  writeWithdrawals(writer, block.withdrawals);
  writer.block(consensusData);
  if (header.blockAccessListHash !== undefined) writer.block(accessList);

  for (const [index, value] of [transactions.length, offsetsOffset, restOffset, writer.length].entries()) {
    writer.patchU32(COUNTS_OFFSET + index * OFFSET_LENGTH, value);
  }
  writer.patchU32(CHECKSUM_OFFSET, writer.checksum(NUMBER_OFFSET, PREFIX_LENGTH));
}

/**
 * The whole record, whose own checksum the log has verified. Byte fields are views of `payload`.
 * @throws MalformedBytesError, UnknownFormatError, and what `decodeTransaction` throws
 */
export function decodeBlockRecord(payload: Uint8Array): BlockRecord {
  return { ...decodeWithoutChanges(payload), changes: decodeStateChanges(payload) };
}

export function decodeHeader(payload: Uint8Array): Header {
  return readHeader(new ByteReader(payload, PREFIX_LENGTH));
}

export function decodeStateChanges(payload: Uint8Array): StateChanges {
  return readChanges(new ByteReader(payload, decodePrefix(payload).changesOffset));
}

/** The accounts of the changes in a record, decoded as they are iterated over. */
export function decodeChangedAddresses(payload: Uint8Array): Generator<Address> {
  return readChangedAddresses(changesReader(payload));
}

/** At the changes of a record that was just written, or read whole: its prefix is not verified again. */
function changesReader(payload: Uint8Array): ByteReader {
  const reader = new ByteReader(payload, CHANGES_OFFSET_AT);
  reader.offset = reader.u32();
  return reader;
}

/** As `decodeBlockRecord`, but skips the changes, which take as long to decode as the rest. */
function decodeWithoutChanges(payload: Uint8Array): Omit<BlockRecord, "changes"> {
  return allAtOnce(decodeInSteps(payload));
}

/** As `decodeWithoutChanges`, in steps of some transactions. */
export function* decodeInSteps(payload: Uint8Array): Generator<undefined, Omit<BlockRecord, "changes">> {
  const { hash, transactionCount, restOffset } = decodePrefix(payload);
  const reader = new ByteReader(payload, PREFIX_LENGTH);
  const header = readHeader(reader);
  reader.offset += CHECKSUM_LENGTH + (transactionCount + 1) * OFFSET_LENGTH;
  const transactions: Transaction[] = [];
  const senders: Address[] = [];
  const receipts: Receipt[] = [];
  for (let left = transactionCount; left > 0; left--) {
    reader.offset += CHECKSUM_LENGTH;
    const { transaction, sender, receipt } = readItem(reader);
    transactions.push(transaction);
    senders.push(sender);
    receipts.push(receipt);
    if (left % ITEMS_A_STEP === 0) yield;
  }
  reader.offset = restOffset;
  const uncles = times(reader.varint(), () => readHeader(reader));
  const withdrawals = readWithdrawals(reader);
  const consensusData = reader.block();
  const accessList = readAccessList(reader, header);
  const block: Block = {
    hash,
    header,
    transactions,
    uncles,
    ...(withdrawals !== undefined && { withdrawals }),
  };
  return { block, senders, receipts, consensusData, ...(accessList && { accessList }) };
}

/**
 * The parts of a record for the address index: transactions and changes are decoded while they are iterated over, so that a large block
 * can be read in slices.
 * @throws as `decodeBlockRecord`, also while it is iterated over
 */
export function decodeAddressParts(payload: Uint8Array): AddressParts {
  const prefix = decodePrefix(payload);
  const { transactionCount, restOffset, changesOffset } = prefix;
  const header = decodeHeader(payload);
  const rest = new ByteReader(payload, restOffset);
  const uncles = times(rest.varint(), () => readHeader(rest));
  const withdrawals = readWithdrawals(rest);
  return {
    header,
    uncles,
    transactionCount,
    ...(withdrawals && { withdrawals }),
    items: readItems(payload, prefix),
    changed: readChangedAddresses(new ByteReader(payload, changesOffset)),
  };
}

/**
 * The block access list in a record, which the hash in the header verifies.
 * @param section bytes of the record from the uncles to the changes
 * @throws MalformedBytesError
 */
export function decodeAccessListSection(section: Uint8Array, header: Header): Uint8Array | undefined {
  const reader = new ByteReader(section);
  times(reader.varint(), () => readHeader(reader));
  readWithdrawals(reader);
  reader.block();
  const list = readAccessList(reader, header);
  if (list !== undefined && keccak256Hash(list) !== header.blockAccessListHash) {
    throw new MalformedBytesError("access list of a block record is damaged");
  }
  return list;
}

function readAccessList(reader: ByteReader, header: Header): Uint8Array | undefined {
  if (header.blockAccessListHash === undefined) return undefined;
  const list = reader.block();
  return list.length === 0 ? undefined : list;
}

/** What each transaction of a record paid for its gas, without decoding the rest. @throws MalformedBytesError */
export function decodeGasPayments(payload: Uint8Array): GasPayment[] {
  const prefix = decodePrefix(payload);
  const offsets = new ByteReader(payload, prefix.offsetsOffset);
  const reader = new ByteReader(payload);
  return times(prefix.transactionCount, () => {
    reader.offset = offsets.u32() + CHECKSUM_LENGTH;
    const sender = reader.hex(20) as Address;
    reader.varint();
    reader.block();
    return { sender, ...readReceiptGas(reader) };
  });
}

function* readItems(payload: Uint8Array, prefix: RecordPrefix): Generator<RecordItem> {
  const { transactionCount } = prefix;
  const reader = new ByteReader(payload, itemOffsetsAt(prefix, transactionCount + 1));
  for (let left = transactionCount; left > 0; left--) {
    reader.offset += CHECKSUM_LENGTH;
    yield readItem(reader);
  }
}

/**
 * The prefix of a record.
 * @param bytes its first `PREFIX_LENGTH` bytes, or more
 * @throws MalformedBytesError where they are damaged; UnknownFormatError
 */
export function decodePrefix(bytes: Uint8Array): RecordPrefix {
  const reader = new ByteReader(bytes);
  assertRecordKind(reader, RECORD_KIND.block, VERSION_AMSTERDAM, VERSION);
  reader.offset = CHECKSUM_OFFSET;
  if (reader.u32() !== reader.checksum(NUMBER_OFFSET, PREFIX_LENGTH)) {
    throw new MalformedBytesError("prefix of a block record is damaged");
  }
  return {
    number: reader.u64(),
    hash: reader.hex(32) as Hash,
    transactionCount: reader.u32(),
    offsetsOffset: reader.u32(),
    restOffset: reader.u32(),
    changesOffset: reader.u32(),
  };
}

/**
 * @param section bytes of a record from the end of its prefix to the offsets of the items
 * @throws MalformedBytesError
 */
export function decodeHeaderSection(section: Uint8Array): Header {
  const reader = new ByteReader(section);
  const end = section.length - CHECKSUM_LENGTH;
  reader.offset = Math.max(0, end);
  if (reader.u32() !== reader.checksum(0, end)) {
    throw new MalformedBytesError("header of a block record is damaged");
  }
  reader.offset = 0;
  return readHeader(reader);
}

/** Where a record says at which offsets item `index` begins and ends: two u32. */
export function itemOffsetsAt({ offsetsOffset }: RecordPrefix, index: number): number {
  return offsetsOffset + index * OFFSET_LENGTH;
}

/**
 * @param item its bytes, from one offset to the next
 * @throws MalformedBytesError, and what `decodeTransaction` throws
 */
export function decodeItem(item: Uint8Array): RecordItem {
  const reader = new ByteReader(item);
  if (reader.u32() !== reader.checksum(CHECKSUM_LENGTH, item.length)) {
    throw new MalformedBytesError("transaction of a block record is damaged");
  }
  return readItem(reader);
}

/** The changes in a record as rows of the index. */
export function decodeChangeRows(payload: Uint8Array): ChangeRows {
  return readChangeRows(changesReader(payload));
}

/** The keys of all changes in a record, address or address ‖ slot, decoded lazily. */
export function decodeChangedKeys(payload: Uint8Array): Generator<Uint8Array> {
  return readChangedKeys(new ByteReader(payload, decodePrefix(payload).changesOffset));
}

function readItem(reader: ByteReader): RecordItem {
  const sender = reader.hex(20) as Address;
  const firstLogIndex = reader.varint();
  const decoded = decodeTransaction(reader.block());
  const transaction = isUnsigned(decoded) ? { ...decoded, hash: includedHash(decoded.raw, sender) } : decoded;
  const receipt = readReceipt(reader, transaction.type);
  return { transaction, sender, receipt, firstLogIndex };
}

export function writeWithdrawals(writer: ByteWriter, withdrawals: Block["withdrawals"]): void {
  if (withdrawals === undefined) {
    writer.varint(NO_WITHDRAWALS_FIELD);
    return;
  }
  writer.varint(withdrawals.length + 1);
  for (const { index, validatorIndex, address, amount } of withdrawals) {
    writer.bigint(index);
    writer.bigint(validatorIndex);
    writer.hex(address);
    writer.bigint(amount);
  }
}

export function readWithdrawals(reader: ByteReader): Withdrawal[] | undefined {
  const form = reader.varint();
  if (form === NO_WITHDRAWALS_FIELD) return undefined;
  return times(form - 1, () => ({
    index: reader.bigint(),
    validatorIndex: reader.bigint(),
    address: reader.hex(20) as Address,
    amount: reader.bigint(),
  }));
}

export function times<T>(count: number, make: () => T): T[] {
  const items: T[] = [];
  for (let i = 0; i < count; i++) items.push(make());
  return items;
}
