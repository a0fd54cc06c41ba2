import type { LogCursor, LogTable } from "../../../chain/logs/block-logs.ts";
import type { LogFilter } from "../../../chain/logs/log-filter.ts";
import type { JsonText } from "../../transport/codec.ts";

/** A list up to here is one string. */
const TEXT_CHARS_MAX = 256 << 10;
/** Larger pieces of memory come from the system each time. */
const PIECE_BYTES = 64 << 10;
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
 * Writes a JSON list of logs: as a string, and as bytes where it becomes long. Bytes are memory outside V8's heap, on whose account it
 * collects all garbage: with one buffer for each answer that took a quarter of the time of answers of 100 KB.
 */
export class LogListWriter {
  readonly #pieces: Buffer[] = [];
  #piecesLength = 0;
  /** What follows the pieces. */
  #text = "[";
  #count = 0;
  /** Of the block that was added to last. */
  #json: LogJson | undefined;

  /** Logs written so far. */
  get count(): number {
    return this.#count;
  }

  /** Bytes, which are as many letters, written so far. */
  get length(): number {
    return this.#piecesLength + this.#text.length;
  }

  /**
   * Adds those of the logs still to come in `logs` that `filter` matches. Ends early once these have `bytesMax` bytes of JSON: the next call goes on
   * from there. @returns whether none is left
   * @param isRemoved their block is no longer part of the chain
   */
  addMatching(logs: LogCursor, filter: LogFilter, isRemoved = false, bytesMax = Number.POSITIVE_INFINITY): boolean {
    if (this.#json?.logs !== logs) this.#json = new LogJson(logs, isRemoved);
    const lengthMax = this.length + bytesMax;
    while (logs.next()) {
      if (!filter.matchesAt(logs)) continue;
      this.#add(this.#json.text());
      if (this.length >= lengthMax) return false;
    }
    return true;
  }

  /** As `addMatching`, for all logs of a block. */
  addKnown({ table, texts, added }: LogTexts, filter: LogFilter): number {
    const json = new LogJson(table, false);
    while (table.nextMatching(filter)) {
      const known = texts[table.logIndex];
      if (known !== undefined) {
        this.#add(known);
        continue;
      }
      const text = inOnePiece(json.text());
      this.#add(text);
      texts[table.logIndex] = text;
      added(text);
    }
    return table.count;
  }

  /** Truncates the list to `count` logs in `length` bytes. */
  rewind({ count, length }: { readonly count: number; readonly length: number }): void {
    this.#count = count;
    while (this.#piecesLength > length) {
      const piece = this.#pieces.pop()!;
      this.#piecesLength -= piece.length;
      this.#text = piece.toString("latin1");
    }
    this.#text = this.#text.slice(0, length - this.#piecesLength);
  }

  /** The list without its end but with a comma, for another list's text to follow; only where it is not empty. Ends the writer. */
  finishOpen(): JsonText {
    return this.#finish(",");
  }

  /** The whole list. Ends the writer. */
  finish(): JsonText {
    return this.#finish("]");
  }

  #finish(end: string): JsonText {
    this.#text += end;
    if (this.#pieces.length === 0) return this.#text;
    this.#endPiece();
    return this.#pieces;
  }

  #add(text: string): void {
    this.#text += this.#count++ === 0 ? text : `,${text}`;
    const lengthMax = this.#pieces.length === 0 ? TEXT_CHARS_MAX : PIECE_BYTES;
    if (this.#text.length > lengthMax) this.#endPiece();
  }

  #endPiece(): void {
    this.#pieces.push(Buffer.from(this.#text, "latin1"));
    this.#piecesLength += this.#text.length;
    this.#text = "";
  }
}

/** The same text, which V8 no longer represents as the tree of its parts: it is copied faster. */
function inOnePiece(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}

/** Writes the JSON of the log that `logs` is at. */
class LogJson {
  readonly logs: LogCursor;
  readonly #end: string;
  /** Of the transaction written last. */
  #transactionIndex = -1;
  #members = "";
  #blockParts: BlockParts | undefined;

  constructor(logs: LogCursor, isRemoved: boolean) {
    this.logs = logs;
    this.#end = isRemoved ? '","removed":true}' : '","removed":false}';
  }

  text(): string {
    const { logs } = this;
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

/** The text between the data's digits and the log index, equal for each log of a transaction. */
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
