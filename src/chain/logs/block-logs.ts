import { ByteWriter, MalformedBytesError } from "../../store/storage/byte-io.ts";
import type { IndexedParts } from "../records/indexed-block.ts";

const ADDRESS_BYTES = 20;
const TOPIC_BYTES = 32;
const HASH_BYTES = 32;

/**
 * The logs of a block with every field that `eth_getLogs` returns, in block order; undefined for a block without logs.
 *
 *     row           block hash 32 ‖ timestamp ‖ transaction*
 *     transaction   index ‖ hash 32 ‖ count ‖ log*            only those with logs
 *     log           address 20 ‖ number of topics u8 ‖ topic 32* ‖ length ‖ data
 *
 * Numbers are varints. Count and logs of a transaction are those bytes of its receipt's record (receipt-record.ts), and are copied where
 * the record is read. Finding a log in a record of the block log would mean to decode all its
 * transactions; this takes a microsecond a block.
 */
export function encodeBlockLogs(executed: IndexedParts): Uint8Array | undefined {
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
    if (logs instanceof Uint8Array) {
      writer.bytes(logs);
      continue;
    }
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
  /** Of the byte to be read next. */
  #offset = HASH_BYTES;
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
    this.bytes = row instanceof Buffer ? row : Buffer.from(row.buffer, row.byteOffset, row.byteLength);
    this.timestamp = this.#varint();
  }

  /** Advances to the next log; false if none. @throws MalformedBytesError */
  next(): boolean {
    if (this.#leftInTransaction === 0) {
      if (this.#offset >= this.bytes.length) return false;
      this.transactionIndex = this.#varint();
      this.transactionHashOffset = this.#offset;
      this.#offset += HASH_BYTES;
      this.#leftInTransaction = this.#varint();
    }
    this.#leftInTransaction--;
    this.logIndex++;
    this.addressOffset = this.#offset;
    this.topicCount = this.bytes[this.#offset + ADDRESS_BYTES]!;
    this.topicsOffset = this.#offset + ADDRESS_BYTES + 1;
    this.#offset = this.topicsOffset + this.topicCount * TOPIC_BYTES;
    this.dataLength = this.#varint();
    this.dataOffset = this.#offset;
    this.#offset += this.dataLength;
    if (this.#offset <= this.bytes.length) return true;
    throw new MalformedBytesError("logs of a block end early");
  }

  /** As `ByteReader.varint`, without an object for each block. */
  #varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const next = this.bytes[this.#offset++];
      if (next === undefined) throw new MalformedBytesError("logs of a block end early");
      value += (next & 0x7f) * scale;
      if (next < 0x80) return value;
      scale *= 0x80;
    }
  }
}

/** Numbers of one log in the table. */
const FIELDS = 7;

/** The logs of a block, one after the other: what `BlockLogs` finds by reading each of them. */
export type LogCursor = Pick<
  BlockLogs,
  | ("number" | "bytes" | "timestamp" | "next" | "logIndex" | "transactionIndex")
  | ("transactionHashOffset" | "addressOffset" | "topicsOffset" | "topicCount")
  | ("dataOffset" | "dataLength")
>;

/** The logs to select, as `LogFilter` describes them. */
type LogMatcher = {
  matchesParts(bytes: Uint8Array, addressOffset: number, topicsOffset: number, topicCount: number): boolean;
};

/** The logs of a block that are searched again and again: a copy of their row, with a table of where each part is. */
export class LogTable implements LogCursor {
  readonly number: number;
  readonly bytes: Buffer;
  readonly timestamp: number;
  readonly count: number;
  readonly #table: Int32Array;
  logIndex = -1;
  transactionIndex = 0;
  transactionHashOffset = 0;
  addressOffset = 0;
  topicsOffset = 0;
  topicCount = 0;
  dataOffset = 0;
  dataLength = 0;

  /** @param logs a reader at the first log */
  constructor(logs: BlockLogs) {
    const table: number[] = [];
    while (logs.next()) {
      table.push(logs.transactionIndex, logs.transactionHashOffset, logs.addressOffset);
      table.push(logs.topicsOffset, logs.topicCount, logs.dataOffset, logs.dataLength);
    }
    this.#table = Int32Array.from(table);
    this.count = table.length / FIELDS;
    this.number = logs.number;
    this.timestamp = logs.timestamp;
    this.bytes = Buffer.from(logs.bytes);
  }

  /** Memory that it takes. */
  get byteLength(): number {
    return this.bytes.length + this.#table.byteLength;
  }

  /** `next()` goes to the first log again. */
  rewind(): void {
    this.logIndex = -1;
  }

  next(): boolean {
    if (this.logIndex + 1 >= this.count) return false;
    this.#goTo(this.logIndex + 1);
    return true;
  }

  /** Advances to the next log that `filter` matches; false if none. */
  nextMatching(filter: LogMatcher): boolean {
    const table = this.#table;
    const { bytes, count } = this;
    for (let index = this.logIndex + 1, at = index * FIELDS; index < count; index++, at += FIELDS) {
      if (!filter.matchesParts(bytes, table[at + 2]!, table[at + 3]!, table[at + 4]!)) continue;
      this.#goTo(index);
      return true;
    }
    this.logIndex = count - 1;
    return false;
  }

  #goTo(index: number): void {
    this.logIndex = index;
    const table = this.#table;
    const at = index * FIELDS;
    this.transactionIndex = table[at]!;
    this.transactionHashOffset = table[at + 1]!;
    this.addressOffset = table[at + 2]!;
    this.topicsOffset = table[at + 3]!;
    this.topicCount = table[at + 4]!;
    this.dataOffset = table[at + 5]!;
    this.dataLength = table[at + 6]!;
  }
}
