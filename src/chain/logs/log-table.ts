import type { BlockLogs } from "./block-logs.ts";

/** Numbers of one log in the table. */
const FIELDS = 7;

/** The logs of a block, one after the other: what `BlockLogs` finds by reading each of them. */
export type LogCursor = Pick<
  BlockLogs,
  | ("number" | "bytes" | "timestamp" | "next" | "logIndex" | "transactionIndex")
  | ("transactionHashOffset" | "addressOffset" | "topicsOffset" | "topicCount")
  | ("dataOffset" | "dataLength")
>;

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

  /** @param logs of which none is read yet */
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
    this.logIndex++;
    const table = this.#table;
    const at = this.logIndex * FIELDS;
    this.transactionIndex = table[at]!;
    this.transactionHashOffset = table[at + 1]!;
    this.addressOffset = table[at + 2]!;
    this.topicsOffset = table[at + 3]!;
    this.topicCount = table[at + 4]!;
    this.dataOffset = table[at + 5]!;
    this.dataLength = table[at + 6]!;
    return true;
  }
}
