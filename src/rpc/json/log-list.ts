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
        `${partsText(logs)}${transactionMembers}${logs.logIndex.toString(16)}","removed":${isRemoved}}`,
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

/** Address, topics and data, up to the end of the data's digits. */
function partsText(logs: BlockLogs): string {
  const { addressOffset, topicsOffset, topicCount, dataOffset, dataLength } = logs;
  // One conversion for all of it: each costs more than the digits it makes.
  const digits = hexAt(logs.bytes, addressOffset, dataOffset + dataLength);
  let text = `{"address":"0x${digits.slice(0, 40)}","topics":[`;
  let at = (topicsOffset - addressOffset) * 2;
  for (let position = 0; position < topicCount; position++, at += 64) {
    text += `${position === 0 ? '"0x' : ',"0x'}${digits.slice(at, at + 64)}"`;
  }
  return `${text}],"data":"0x${digits.slice((dataOffset - addressOffset) * 2)}`;
}
