import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { ByteReader, ByteWriter } from "../../storage/byte-io.ts";
import type { Block } from "../../types/block.ts";
import { decodeTransaction } from "../../types/transaction/decode.ts";
import { readWithdrawals, times, writeBlock } from "./block-record.ts";
import { readHeader } from "./header-record.ts";
import { readReceipt } from "./receipt-record.ts";

/**
 * The record of log format 1 in the current format, for the migration of a log.
 *
 *     record   offset of the changes u32 ‖ block hash 32 ‖ header ‖ uncles ‖ withdrawals
 *              ‖ count ‖ (length ‖ canonical transaction)* ‖ sender* ‖ receipt*
 *              ‖ length ‖ consensus data ‖ changes
 *
 * The changes are the same in both formats and are copied.
 * @throws MalformedBytesError, and what `decodeTransaction` throws
 */
export function upgradeRecordV1(payload: Uint8Array): Buffer {
  const reader = new ByteReader(payload);
  const changesOffset = reader.u32();
  const hash = reader.hex(32) as Hash;
  const header = readHeader(reader);
  const uncles = times(reader.varint(), () => readHeader(reader));
  const withdrawals = readWithdrawals(reader);
  const transactions = times(reader.varint(), () => decodeTransaction(reader.block()));
  const senders = transactions.map(() => reader.hex(20) as Address);
  const receipts = transactions.map(({ type }) => readReceipt(reader, type));
  const consensusData = reader.block();
  const block: Block = {
    hash,
    header,
    transactions,
    uncles,
    ...(withdrawals !== undefined && { withdrawals }),
  };
  const writer = new ByteWriter(payload.length + 128 + transactions.length * 16);
  writeBlock(writer, { block, senders, receipts, consensusData });
  writer.bytes(payload.subarray(changesOffset));
  return writer.finish();
}
