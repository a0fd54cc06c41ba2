import type { Address } from "../../../src/base/primitives/address.ts";
import type { BlockRecord } from "../../../src/chain/block-store.ts";
import { writeWithdrawals } from "../../../src/chain/records/block-record.ts";
import { writeChanges } from "../../../src/chain/records/changes-record.ts";
import { writeHeader } from "../../../src/chain/records/header-record.ts";
import { writeReceipt } from "../../../src/chain/records/receipt-record.ts";
import { ByteWriter } from "../../../src/store/storage/byte-io.ts";

/** A frozen record of log format 1, for creating homes of that version (store/log/replace-log.ts). */
export function encodeBlockRecordV1(record: BlockRecord, unchanged: ReadonlySet<Address>): Uint8Array {
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
