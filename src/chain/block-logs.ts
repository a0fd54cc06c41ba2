import { ByteReader, ByteWriter } from "../storage/byte-io.ts";
import type { ExecutedBlock } from "../types/block.ts";

const ADDRESS_BYTES = 20;
const TOPIC_BYTES = 32;
const HASH_BYTES = 32;

/**
 * The logs of a block with all that `eth_getLogs` says of them, in the order of the block; undefined
 * when there are none.
 *
 *     row           block hash 32 ‖ timestamp ‖ transaction*
 *     transaction   index ‖ hash 32 ‖ count ‖ log*            only those with logs
 *     log           address 20 ‖ number of topics u8 ‖ topic 32* ‖ length ‖ data
 *
 * Numbers are varints. Finding a log in a record of the block log would mean to decode all its
 * transactions; this takes a microsecond a block.
 */
export function encodeBlockLogs(
  executed: Pick<ExecutedBlock, "block" | "receipts">,
): Uint8Array | undefined {
  const { block, receipts } = executed;
  let writer: ByteWriter | undefined;
  for (const [index, { logs }] of receipts.entries()) {
    if (logs.length === 0) continue;
    if (writer === undefined) {
      writer = new ByteWriter(512);
      writer.hex(block.hash);
      writer.varint(block.header.timestamp);
    }
    writer.varint(index);
    writer.hex(block.transactions[index]!.hash);
    writer.varint(logs.length);
    for (const { address, topics, data } of logs) {
      writer.hex(address);
      writer.byte(topics.length);
      for (const topic of topics) writer.hex(topic);
      writer.block(data);
    }
  }
  // Copied, because the writer's buffer is larger than what is in it.
  return writer && Uint8Array.from(writer.finish());
}

/**
 * The logs of block `number`, one after the other without making an object of each: `next()` goes to
 * the following one, and the other members say where in `bytes` its parts are.
 */
export class BlockLogs {
  readonly number: number;
  readonly bytes: Buffer;
  readonly timestamp: number;
  readonly #reader: ByteReader;
  #leftInTransaction = 0;
  /** of the transaction, in the block */
  transactionIndex = 0;
  transactionHashOffset = 0;
  /** in the block; -1 before the first `next()` */
  logIndex = -1;
  addressOffset = 0;
  topicsOffset = 0;
  topicCount = 0;
  dataOffset = 0;
  dataLength = 0;

  /** @param row as `encodeBlockLogs` made it */
  constructor(number: number, row: Uint8Array) {
    this.number = number;
    this.bytes = Buffer.from(row.buffer, row.byteOffset, row.byteLength);
    this.#reader = new ByteReader(row, HASH_BYTES);
    this.timestamp = this.#reader.varint();
  }

  /** Goes to the next log; false when there is none. @throws MalformedBytesError */
  next(): boolean {
    const reader = this.#reader;
    if (this.#leftInTransaction === 0) {
      if (reader.atEnd) return false;
      this.transactionIndex = reader.varint();
      this.transactionHashOffset = reader.offset;
      reader.offset += HASH_BYTES;
      this.#leftInTransaction = reader.varint();
    }
    this.#leftInTransaction--;
    this.logIndex++;
    this.addressOffset = reader.offset;
    reader.offset += ADDRESS_BYTES;
    this.topicCount = reader.byte();
    this.topicsOffset = reader.offset;
    reader.offset += this.topicCount * TOPIC_BYTES;
    this.dataLength = reader.varint();
    this.dataOffset = reader.offset;
    reader.offset += this.dataLength;
    return true;
  }
}
