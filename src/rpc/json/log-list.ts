import type { LogFilter } from "../../chain/logs/log-filter.ts";
import type { LogCursor, LogTable } from "../../chain/logs/log-table.ts";

const FIRST_PART_BYTES = 2 << 10;
/** Larger pieces of memory come from the system each time, and V8 collects garbage on their account. */
const PART_BYTES = 64 << 10;
const COMMA = 0x2c;
const ADDRESS_DIGITS = 40;
const HASH_BYTES = 32;
const HASH_DIGITS = 64;

/** What was written before of the logs of a block. */
export type LogTexts = {
  readonly table: LogTable;
  /** JSON by index in the block, where it is known. */
  readonly texts: (string | undefined)[];
  /** To be called with each text that is added. */
  added(text: string): void;
};

/**
 * Writes a JSON list of logs as bytes. All digits of a log are converted at once, and its text is copied at once: this takes two
 * thirds of the time of writing byte by byte.
 */
export class LogListWriter {
  /** Those that are full. */
  readonly #parts: Buffer<ArrayBuffer>[] = [];
  #partsLength = 0;
  /** The part under way, and how much of it is written. */
  #json = Buffer.allocUnsafe(FIRST_PART_BYTES);
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
  addMatching(logs: LogCursor, filter: LogFilter, isRemoved = false): number {
    const json = new LogJson(logs, isRemoved);
    while (logs.next()) if (filter.matchesAt(logs)) this.#add(json.text());
    return logs.logIndex + 1;
  }

  /** As `addMatching`, for all logs of a block. */
  addKnown({ table, texts, added }: LogTexts, filter: LogFilter): number {
    const json = new LogJson(table, false);
    while (table.next()) {
      if (!filter.matchesAt(table)) continue;
      const known = texts[table.logIndex];
      const text = known ?? json.text();
      this.#add(text);
      if (known !== undefined) continue;
      texts[table.logIndex] = text;
      added(text);
    }
    return table.count;
  }

  /** Forgets what was written since the list had `count` logs in `length` bytes. */
  rewind({ count, length }: { readonly count: number; readonly length: number }): void {
    this.#count = count;
    while (this.#partsLength > length) {
      this.#json = this.#parts.pop()!;
      this.#partsLength -= this.#json.length;
    }
    this.#at = length - this.#partsLength;
  }

  /** The list without its end but with a comma, for another list's text to follow; only where it is not empty. Ends the writer. */
  finishOpen(): readonly Uint8Array[] {
    this.#reserve(1);
    this.#text(",");
    return [...this.#parts, this.#json.subarray(0, this.#at)];
  }

  /** The whole list, in pieces. Ends the writer. */
  finish(): readonly Uint8Array[] {
    this.#reserve(1);
    this.#text("]");
    return [...this.#parts, this.#json.subarray(0, this.#at)];
  }

  #add(text: string): void {
    this.#reserve(text.length + 2);
    if (this.#count++ > 0) this.#json[this.#at++] = COMMA;
    this.#text(text);
  }

  /** @param text ASCII, for which there is room */
  #text(text: string): void {
    this.#at += this.#json.write(text, this.#at, "latin1");
  }

  /** Makes room for `bytes` in the part under way, or begins another. */
  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#json.length) return;
    this.#parts.push(this.#json.subarray(0, this.#at));
    this.#partsLength += this.#at;
    this.#json = Buffer.allocUnsafe(Math.max(Math.min(this.#json.length * 4, PART_BYTES), bytes));
    this.#at = 0;
  }
}

/** Writes the JSON of the log that `logs` is at. */
class LogJson {
  readonly #logs: LogCursor;
  readonly #end: string;
  /** Of the transaction written last. */
  #transactionIndex = -1;
  #members = "";
  #blockParts: BlockParts | undefined;

  constructor(logs: LogCursor, isRemoved: boolean) {
    this.#logs = logs;
    this.#end = isRemoved ? '","removed":true}' : '","removed":false}';
  }

  text(): string {
    const logs = this.#logs;
    if (this.#transactionIndex !== logs.transactionIndex) {
      this.#transactionIndex = logs.transactionIndex;
      this.#blockParts ??= blockPartsOf(logs);
      this.#members = transactionMembers(logs, this.#blockParts);
    }
    const { addressOffset, topicsOffset, dataOffset } = logs;
    const digits = logs.bytes.toString("hex", addressOffset, dataOffset + logs.dataLength);
    const address = digits.slice(0, ADDRESS_DIGITS);
    const topics = topicsText(digits, 2 * (topicsOffset - addressOffset), logs.topicCount);
    const data = digits.slice(2 * (dataOffset - addressOffset));
    return `{"address":"0x${address}","topics":[${topics}],"data":"0x${data}${this.#members}${logs.logIndex.toString(16)}${this.#end}`;
  }
}

/** Text of a log's JSON that is the same for each log of a block, before and after the members of its transaction. */
type BlockParts = { readonly before: string; readonly after: string };

function blockPartsOf({ bytes, number, timestamp }: LogCursor): BlockParts {
  const hash = bytes.toString("hex", 0, HASH_BYTES);
  return {
    before: `","blockNumber":"0x${number.toString(16)}","transactionHash":"0x`,
    after: `","blockHash":"0x${hash}","blockTimestamp":"0x${timestamp.toString(16)}","logIndex":"0x`,
  };
}

/** What follows the data's digits, up to those of the log index: the same for each log of a transaction. */
function transactionMembers(logs: LogCursor, { before, after }: BlockParts): string {
  const { bytes, transactionHashOffset: offset, transactionIndex } = logs;
  const hash = bytes.toString("hex", offset, offset + HASH_BYTES);
  return `${before}${hash}","transactionIndex":"0x${transactionIndex.toString(16)}${after}`;
}

/** The topics' strings, whose digits follow each other from `start`. */
function topicsText(digits: string, start: number, count: number): string {
  let text = "";
  for (let i = 0, at = start; i < count; i++, at += HASH_DIGITS) {
    text += `${i === 0 ? "" : ","}"0x${digits.slice(at, at + HASH_DIGITS)}"`;
  }
  return text;
}
