import type { BlockLogs } from "../../chain/logs/block-logs.ts";
import type { LogFilter } from "../../chain/logs/log-filter.ts";

const FIRST_PART_BYTES = 2 << 10;
/** Larger pieces of memory come from the system each time, and V8 collects garbage on their account. */
const PART_BYTES = 64 << 10;
/** More than all of a log's JSON takes without the digits of address, topics and data. */
const LOG_BYTES_MAX = 600;
const ADDRESS_BYTES = 20;
const HASH_BYTES = 32;
const COMMA = 0x2c;

/** The two digits of each byte, as a little-endian u16. */
const DIGIT_PAIRS = Uint16Array.from({ length: 256 }, (_, byte) =>
  Buffer.from(byte.toString(16).padStart(2, "0")).readUInt16LE(),
);

/**
 * Writes a JSON list of logs as bytes, straight from the bytes they are stored in: strings in between
 * take three times as long.
 */
export class LogListWriter {
  /** Those that are full. */
  readonly #parts: Buffer<ArrayBuffer>[] = [];
  #partsLength = 0;
  /** The part under way, and how much of it is written. */
  #json = Buffer.allocUnsafe(FIRST_PART_BYTES);
  #view = viewOf(this.#json);
  #at = 1;
  #count = 0;

  constructor() {
    this.#json[0] = 0x5b;
  }

  /** Logs written so far. */
  get count(): number {
    return this.#count;
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#partsLength + this.#at;
  }

  /**
   * Adds those of the logs still to come in `logs` that `filter` matches; how many were looked at.
   * @param isRemoved their block is no longer part of the chain
   */
  addMatching(logs: BlockLogs, filter: LogFilter, isRemoved = false): number {
    const { bytes } = logs;
    const end = isRemoved ? '","removed":true}' : '","removed":false}';
    let transactionIndex = -1;
    let membersStart = 0;
    let membersEnd = 0;
    let membersPart = 0;
    while (logs.next()) {
      if (!filter.matchesAt(logs)) continue;
      const { addressOffset, topicsOffset, dataOffset } = logs;
      const dataEnd = dataOffset + logs.dataLength;
      this.#reserve(LOG_BYTES_MAX + 2 * (dataEnd - addressOffset));
      if (this.#count++ > 0) this.#json[this.#at++] = COMMA;
      this.#text('{"address":"0x');
      this.#hex(bytes, addressOffset, addressOffset + ADDRESS_BYTES);
      this.#text('","topics":[');
      for (let position = 0; position < logs.topicCount; position++) {
        const start = topicsOffset + position * HASH_BYTES;
        this.#text(position === 0 ? '"0x' : ',"0x');
        this.#hex(bytes, start, start + HASH_BYTES);
        this.#text('"');
      }
      this.#text('],"data":"0x');
      this.#hex(bytes, dataOffset, dataEnd);
      if (transactionIndex === logs.transactionIndex && membersPart === this.#parts.length) {
        this.#again(membersStart, membersEnd);
      } else {
        transactionIndex = logs.transactionIndex;
        membersPart = this.#parts.length;
        membersStart = this.#at;
        this.#transactionMembers(logs);
        membersEnd = this.#at;
      }
      this.#text(logs.logIndex.toString(16));
      this.#text(end);
    }
    return logs.logIndex + 1;
  }

  /** Forgets what was written since the list had `count` logs in `length` bytes. */
  rewind({ count, length }: { readonly count: number; readonly length: number }): void {
    this.#count = count;
    while (this.#partsLength > length) {
      this.#json = this.#parts.pop()!;
      this.#partsLength -= this.#json.length;
    }
    this.#view = viewOf(this.#json);
    this.#at = length - this.#partsLength;
  }

  /** The list without its end but with a comma, for another list's text to follow; only where it is not empty. Ends the writer. */
  finishOpen(): readonly Uint8Array[] {
    this.#reserve(1);
    this.#json[this.#at++] = COMMA;
    return [...this.#parts, this.#json.subarray(0, this.#at)];
  }

  /** The whole list, in pieces. Ends the writer. */
  finish(): readonly Uint8Array[] {
    this.#reserve(1);
    this.#json[this.#at++] = 0x5d;
    return [...this.#parts, this.#json.subarray(0, this.#at)];
  }

  /** What follows the data's digits, up to those of the log index: the same for each log of a transaction. */
  #transactionMembers(logs: BlockLogs): void {
    const { bytes, transactionHashOffset } = logs;
    this.#text('","blockNumber":"0x');
    this.#text(logs.number.toString(16));
    this.#text('","transactionHash":"0x');
    this.#hex(bytes, transactionHashOffset, transactionHashOffset + HASH_BYTES);
    this.#text('","transactionIndex":"0x');
    this.#text(logs.transactionIndex.toString(16));
    this.#text('","blockHash":"0x');
    this.#hex(bytes, 0, HASH_BYTES);
    this.#text('","blockTimestamp":"0x');
    this.#text(logs.timestamp.toString(16));
    this.#text('","logIndex":"0x');
  }

  /** @param text ASCII, for which there is room */
  #text(text: string): void {
    const json = this.#json;
    let at = this.#at;
    for (let i = 0; i < text.length; i++) json[at++] = text.charCodeAt(i);
    this.#at = at;
  }

  #hex(bytes: Uint8Array, start: number, end: number): void {
    const view = this.#view;
    let at = this.#at;
    for (let i = start; i < end; i++, at += 2) view.setUint16(at, DIGIT_PAIRS[bytes[i]!]!, true);
    this.#at = at;
  }

  /** Writes the bytes from `start` to `end` once more. */
  #again(start: number, end: number): void {
    this.#json.copyWithin(this.#at, start, end);
    this.#at += end - start;
  }

  /** Makes room for `bytes` in the part under way, or begins another. */
  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#json.length) return;
    this.#parts.push(this.#json.subarray(0, this.#at));
    this.#partsLength += this.#at;
    this.#json = Buffer.allocUnsafe(Math.max(Math.min(this.#json.length * 4, PART_BYTES), bytes));
    this.#view = viewOf(this.#json);
    this.#at = 0;
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
