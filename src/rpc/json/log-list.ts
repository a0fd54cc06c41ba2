import type { BlockLogs } from "../../chain/block-logs.ts";
import type { LogFilter } from "../../chain/log-filter.ts";
import { quantityText } from "./write.ts";

const CAPACITY = 4096;

/** Writes a JSON list of logs as bytes, straight from the bytes they are stored in. */
export class LogListWriter {
  #buffer = Buffer.allocUnsafe(CAPACITY);
  #length = 1;
  #count = 0;

  constructor() {
    this.#buffer[0] = 0x5b;
  }

  /** Logs written so far. */
  get count(): number {
    return this.#count;
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /**
   * Adds those of the logs still to come in `logs` that `filter` matches; how many were looked at.
   * @param isRemoved their block is no longer part of the chain
   */
  addMatching(logs: BlockLogs, filter: LogFilter, isRemoved = false): number {
    const { bytes } = logs;
    let blockMembers: string | undefined;
    let transactionMembers = "";
    let transactionIndex = -1;
    while (logs.next()) {
      if (!filter.matchesAt(logs)) continue;
      if (transactionIndex !== logs.transactionIndex) {
        transactionIndex = logs.transactionIndex;
        blockMembers ??=
          `,"blockHash":"0x${hexAt(bytes, 0, 32)}"` +
          `,"blockTimestamp":${quantityText(logs.timestamp)},"logIndex":"0x`;
        const { transactionHashOffset } = logs;
        transactionMembers =
          `","blockNumber":${quantityText(logs.number)}` +
          `,"transactionHash":"0x${hexAt(bytes, transactionHashOffset, transactionHashOffset + 32)}"` +
          `,"transactionIndex":${quantityText(transactionIndex)}${blockMembers}`;
      }
      this.#add(
        `{"address":"0x${hexAt(bytes, logs.addressOffset, logs.addressOffset + 20)}","topics":[` +
          `${topicsText(logs)}],"data":"0x${hexAt(bytes, logs.dataOffset, logs.dataOffset + logs.dataLength)}` +
          `${transactionMembers}${logs.logIndex.toString(16)}","removed":${isRemoved}}`,
      );
    }
    return logs.logIndex + 1;
  }

  /** Forgets what was written since the list had `count` logs in `length` bytes. */
  rewind({ count, length }: { readonly count: number; readonly length: number }): void {
    this.#count = count;
    this.#length = length;
  }

  /** The whole list. The writer must not be used afterwards. */
  finish(): Uint8Array {
    this.#reserve(1);
    this.#buffer[this.#length] = 0x5d;
    return this.#buffer.subarray(0, this.#length + 1);
  }

  #add(text: string): void {
    this.#reserve(text.length + 1);
    if (this.#count > 0) this.#buffer[this.#length++] = 0x2c;
    this.#length += this.#buffer.write(text, this.#length, "latin1");
    this.#count++;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

function hexAt(bytes: Buffer, start: number, end: number): string {
  return bytes.toString("hex", start, end);
}

function topicsText({ bytes, topicCount, topicsOffset }: BlockLogs): string {
  if (topicCount === 0) return "";
  let text = `"0x${hexAt(bytes, topicsOffset, topicsOffset + 32)}`;
  for (let position = 1; position < topicCount; position++) {
    const offset = topicsOffset + position * 32;
    text += `","0x${hexAt(bytes, offset, offset + 32)}`;
  }
  return `${text}"`;
}
