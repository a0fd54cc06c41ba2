import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { ByteReader, ByteWriter } from "../../storage/byte-io.ts";
import type { Block, Withdrawal } from "../../types/block.ts";
import { decodeTransaction } from "../../types/transaction/decode.ts";
import type { BlockRecord } from "../store/block-store.ts";
import { type ChangeRows, readChangeRows, readChanges, writeChanges } from "./changes-record.ts";
import { readHeader, writeHeader } from "./header-record.ts";
import { readReceipt, writeReceipt } from "./receipt-record.ts";

/**
 * One block in the block log.
 *
 *     record   offset of the changes u32 ‖ block hash 32 ‖ header ‖ uncles ‖ withdrawals
 *              ‖ count ‖ (length ‖ canonical transaction)* ‖ sender* ‖ receipt*
 *              ‖ length ‖ consensus data ‖ changes
 *
 * Counts and lengths are varints. The hash stands first so that it can be told without decoding;
 * a transaction's hash is computed, its sender is stored because recovering it costs a hundred times more.
 */
const HASH_OFFSET = 4;

const NO_WITHDRAWALS_FIELD = 0;

/**
 * The record as bytes.
 * @param unchanged accounts that are in the changes for their slots alone
 */
export function encodeBlockRecord(record: BlockRecord, unchanged: ReadonlySet<Address>): Buffer {
  const { block, senders, receipts, changes, consensusData } = record;
  const writer = new ByteWriter(512 + block.transactions.length * 320);
  writer.u32(0);
  writer.hex(block.hash);
  writeHeader(writer, block.header);
  writer.varint(block.uncles.length);
  for (const uncle of block.uncles) writeHeader(writer, uncle);
  writeWithdrawals(writer, block.withdrawals);
  writer.varint(block.transactions.length);
  for (const tx of block.transactions) writer.block(tx.raw);
  for (const sender of senders) writer.hex(sender);
  for (const receipt of receipts) writeReceipt(writer, receipt);
  writer.block(consensusData);
  writer.patchU32(0, writer.length);
  writeChanges(writer, changes, unchanged);
  return writer.finish();
}

/**
 * The whole record. Byte fields are views of `payload`.
 * @throws MalformedBytesError, and what `decodeTransaction` throws
 */
export function decodeBlockRecord(payload: Uint8Array): BlockRecord {
  const reader = new ByteReader(payload, HASH_OFFSET);
  const hash = reader.hex(32) as Hash;
  const header = readHeader(reader);
  const uncles = times(reader.varint(), () => readHeader(reader));
  const withdrawals = readWithdrawals(reader);
  const transactions = times(reader.varint(), () => decodeTransaction(reader.block()));
  const senders = transactions.map(() => reader.hex(20) as Address);
  const receipts = transactions.map(({ type }) => readReceipt(reader, type));
  const consensusData = reader.block();
  const changes = readChanges(reader);
  const block: Block = {
    hash,
    header,
    transactions,
    uncles,
    ...(withdrawals !== undefined && { withdrawals }),
  };
  return { block, senders, receipts, changes, consensusData };
}

/** The changes in a record as rows of the index. */
export function decodeChangeRows(payload: Uint8Array): ChangeRows {
  const reader = new ByteReader(payload);
  reader.offset = reader.u32();
  return readChangeRows(reader);
}

/** Hash of the block in a record. */
export function recordBlockHash(payload: Uint8Array): Uint8Array {
  return new ByteReader(payload, HASH_OFFSET).bytes(32);
}

function writeWithdrawals(writer: ByteWriter, withdrawals: Block["withdrawals"]): void {
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

function readWithdrawals(reader: ByteReader): Withdrawal[] | undefined {
  const form = reader.varint();
  if (form === NO_WITHDRAWALS_FIELD) return undefined;
  return times(form - 1, () => ({
    index: reader.bigint(),
    validatorIndex: reader.bigint(),
    address: reader.hex(20) as Address,
    amount: reader.bigint(),
  }));
}

function times<T>(count: number, make: () => T): T[] {
  const items: T[] = [];
  for (let i = 0; i < count; i++) items.push(make());
  return items;
}
