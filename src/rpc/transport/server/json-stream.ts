import { MessageBuffer } from "./message-buffer.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Cuts a stream of JSON values, one after the other with or without white space between, into its objects and arrays. Other bytes between
 * them are passed on up to the next line end, to be rejected as invalid JSON.
 */
export class JsonStream {
  readonly #bytesMax: number;
  readonly #pending = new MessageBuffer();
  #values = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #inGarbage = false;

  /** @param bytesMax size of one value */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The number of the incomplete value, undefined between values. */
  get message(): number | undefined {
    return this.#pending.length === 0 ? undefined : this.#values;
  }

  /** Memory of the incomplete value. */
  get heldBytes(): number {
    return this.#pending.heldBytes;
  }

  /** The values that `chunk` completes; undefined when one is too large: nothing after it can be read. */
  push(chunk: Buffer): readonly Buffer[] | undefined {
    const values: Buffer[] = [];
    let start = this.#pending.length > 0 ? 0 : -1;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#inString = false;
        continue;
      }
      if (start === -1) {
        if (byte <= 0x20) continue;
        start = at;
        this.#inGarbage = byte !== 0x7b && byte !== 0x5b;
      }
      if (this.#inGarbage) {
        if (byte !== 0x0a) continue;
        this.#inGarbage = false;
      } else if (byte === QUOTE) {
        this.#inString = true;
        continue;
      } else if (byte === 0x7b || byte === 0x5b) {
        this.#depth++;
        continue;
      } else if (byte !== 0x7d && byte !== 0x5d) continue;
      else if (--this.#depth > 0) continue;
      values.push(this.#take(chunk.subarray(start, at + 1)));
      start = -1;
    }
    if (start >= 0) this.#pending.push(chunk.subarray(start));
    const isTooLarge = this.#pending.length > this.#bytesMax || values.some(({ length }) => length > this.#bytesMax);
    return isTooLarge ? undefined : values;
  }

  #take(last: Buffer): Buffer {
    this.#values++;
    this.#depth = 0;
    if (this.#pending.length === 0) return last;
    this.#pending.push(last);
    return this.#pending.take();
  }
}
