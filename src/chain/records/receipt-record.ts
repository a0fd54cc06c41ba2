import type { Address } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Log, Receipt } from "../../base/types/receipt.ts";
import type { ByteReader, ByteWriter } from "../../store/storage/byte-io.ts";
import { readBloom, skipBloom, writeBloom } from "./header-record.ts";

const STATUS = 1;
const SUCCESS = 2;
const POST_STATE = 4;
const CONTRACT = 8;
const BLOB_GAS_USED = 16;
const BLOB_GAS_PRICE = 32;
/** Numbers between the flags and the bloom. */
const GAS_FIELDS = 3;
const ADDRESS_LENGTH = 20;
const HASH_LENGTH = 32;

/**
 * A receipt in the block log, without its type, which is its transaction's.
 *
 *     flags ‖ cumulativeGasUsed ‖ gasUsed ‖ effectiveGasPrice ‖ bloom ‖ logs ‖ what the flags announce
 */
export function writeReceipt(writer: ByteWriter, receipt: Receipt): void {
  const { status, postState, contractAddress, blobGasUsed, blobGasPrice } = receipt;
  writer.byte(
    (status !== undefined ? STATUS : 0) |
      (status === 1 ? SUCCESS : 0) |
      (postState !== undefined ? POST_STATE : 0) |
      (contractAddress !== null ? CONTRACT : 0) |
      (blobGasUsed !== undefined ? BLOB_GAS_USED : 0) |
      (blobGasPrice !== undefined ? BLOB_GAS_PRICE : 0),
  );
  writer.bigint(receipt.cumulativeGasUsed);
  writer.bigint(receipt.gasUsed);
  writer.bigint(receipt.effectiveGasPrice);
  writeBloom(writer, receipt.logsBloom);
  writer.varint(receipt.logs.length);
  for (const log of receipt.logs) {
    writer.hex(log.address);
    writer.byte(log.topics.length);
    for (const topic of log.topics) writer.hex(topic);
    writer.block(log.data);
  }
  if (postState !== undefined) writer.hex(postState);
  if (contractAddress !== null) writer.hex(contractAddress);
  if (blobGasUsed !== undefined) writer.bigint(blobGasUsed);
  if (blobGasPrice !== undefined) writer.bigint(blobGasPrice);
}

/** @throws MalformedBytesError */
export function readReceipt(reader: ByteReader, type: Receipt["type"]): Receipt {
  const flags = reader.byte();
  const cumulativeGasUsed = reader.bigint();
  const gasUsed = reader.bigint();
  const effectiveGasPrice = reader.bigint();
  const logsBloom = readBloom(reader);
  const logs = readLogs(reader);
  return {
    type,
    ...(flags & STATUS && { status: flags & SUCCESS ? (1 as const) : (0 as const) }),
    ...(flags & POST_STATE && { postState: reader.hex(32) as Hash }),
    cumulativeGasUsed,
    gasUsed,
    logsBloom,
    logs,
    contractAddress: flags & CONTRACT ? (reader.hex(20) as Address) : null,
    effectiveGasPrice,
    ...(flags & BLOB_GAS_USED && { blobGasUsed: reader.bigint() }),
    ...(flags & BLOB_GAS_PRICE && { blobGasPrice: reader.bigint() }),
  };
}

/** What the transaction of the receipt that begins here paid for its gas; what is after that is not read. @throws MalformedBytesError */
export function readReceiptGas(reader: ByteReader): Pick<Receipt, "gasUsed" | "effectiveGasPrice"> {
  reader.byte();
  reader.skipBigint();
  return { gasUsed: reader.bigint(), effectiveGasPrice: reader.bigint() };
}

/**
 * The encoded logs of the receipt that begins here, without their count: a view, empty for a receipt without logs. Reads nothing after them.
 * @throws MalformedBytesError
 */
export function readReceiptLogs(reader: ByteReader): Uint8Array {
  reader.byte();
  for (let field = 0; field < GAS_FIELDS; field++) reader.skipBigint();
  skipBloom(reader);
  const start = reader.offset;
  const count = reader.varint();
  if (count === 0) return EMPTY_BYTES;
  for (let left = count; left > 0; left--) {
    reader.skip(ADDRESS_LENGTH);
    reader.skip(reader.byte() * HASH_LENGTH);
    reader.skip(reader.varint());
  }
  const length = reader.offset - start;
  reader.offset = start;
  return reader.bytes(length);
}

function readLogs(reader: ByteReader): Log[] {
  const logs: Log[] = [];
  for (let left = reader.varint(); left > 0; left--) {
    const address = reader.hex(20) as Address;
    const topics: Hash[] = [];
    for (let topic = reader.byte(); topic > 0; topic--) topics.push(reader.hex(32) as Hash);
    logs.push({ address, topics, data: reader.block() });
  }
  return logs;
}
