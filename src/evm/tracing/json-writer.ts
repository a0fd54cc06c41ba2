/** The JSON text of a trace: a string, or its UTF-8 bytes in pieces where it may be large. */
export type TraceText = string | readonly Uint8Array[];

/** Length in characters of a string, in bytes of pieces. */
export function textLength(text: TraceText): number {
  if (typeof text === "string") return text.length;
  return text.reduce((sum, { length }) => sum + length, 0);
}

export function textString(text: TraceText): string {
  return typeof text === "string" ? text : Buffer.concat(text).toString();
}

/** Most texts are short: the first pieces are small, later ones twice as large up to the maximum. */
const PIECE_BYTES_MIN = 4 << 10;
const PIECE_BYTES_MAX = 1 << 20;

/** Longer texts are copied by the engine: a call into it takes as long as a loop over so many characters. */
const LOOP_CHARS_MAX = 128;

const ZERO = 0x30;
const QUOTE = 0x22;
const LETTER_X = 0x78;
const ASCII_END = 0x80;
const WORD_BYTES = 32;
const DIGITS_MAX = 20;

const ENCODER = new TextEncoder();

const HEX_DIGITS = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/**
 * Writes JSON as bytes: a trace has millions of short members, and as many strings cost more to collect than to write
 * (`npm run bench -- trace`).
 */
export class JsonWriter {
  readonly #pieces: Uint8Array[] = [];
  readonly #digits = new Uint8Array(DIGITS_MAX);
  readonly #scratch: Uint8Array | undefined;
  #piece: Uint8Array;
  #at = 0;
  #bytesBefore = 0;

  /** @param scratch of the caller, for the first piece: useful only for `finishText`, which leaves nothing in it */
  constructor(scratch?: Uint8Array) {
    this.#scratch = scratch;
    this.#piece = scratch ?? new Uint8Array(PIECE_BYTES_MIN);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#bytesBefore + this.#at;
  }

  text(text: string): void {
    if (text.length > LOOP_CHARS_MAX) {
      this.#longText(text);
      return;
    }
    this.#reserve(text.length);
    const piece = this.#piece;
    let at = this.#at;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= ASCII_END) {
        this.#bytes(Buffer.from(text));
        return;
      }
      piece[at++] = code;
    }
    this.#at = at;
  }

  /** A natural number in decimal digits. */
  decimal(value: number | bigint): void {
    if (value > Number.MAX_SAFE_INTEGER) {
      this.text(value.toString());
      return;
    }
    let rest = Number(value);
    const digits = this.#digits;
    let first = DIGITS_MAX;
    // Numbers of 31 bits are divided as such.
    while (rest > 0x7fff_ffff) {
      const quotient = Math.floor(rest / 10);
      digits[--first] = ZERO + (rest - quotient * 10);
      rest = quotient;
    }
    do {
      const quotient = (rest / 10) | 0;
      digits[--first] = ZERO + (rest - quotient * 10);
      rest = quotient;
    } while (rest > 0);
    this.#reserve(DIGITS_MAX);
    for (let i = first; i < DIGITS_MAX; i++) this.#piece[this.#at++] = digits[i]!;
  }

  /** A QUANTITY in quotes: the word at `start`, whose lowest byte comes first. */
  quantity(bytes: Uint8Array, start: number): void {
    this.#reserve(2 * WORD_BYTES + 4);
    const piece = this.#piece;
    let at = this.#at;
    piece[at++] = QUOTE;
    piece[at++] = ZERO;
    piece[at++] = LETTER_X;
    let i = start + WORD_BYTES - 1;
    while (i > start && bytes[i] === 0) i--;
    const top = bytes[i]!;
    if (top > 15) piece[at++] = HEX_DIGITS[top >> 4]!;
    piece[at++] = HEX_DIGITS[top & 15]!;
    while (--i >= start) {
      const byte = bytes[i]!;
      piece[at++] = HEX_DIGITS[byte >> 4]!;
      piece[at++] = HEX_DIGITS[byte & 15]!;
    }
    piece[at++] = QUOTE;
    this.#at = at;
  }

  /** The hex digits of the bytes from `start` to `end`. */
  hex(bytes: Uint8Array, start: number, end: number): void {
    for (let from = start; from < end; from += PIECE_BYTES_MIN / 2) {
      this.#shortHex(bytes, from, Math.min(end, from + PIECE_BYTES_MIN / 2));
    }
  }

  /** A QUANTITY in quotes. */
  quantityOf(value: bigint): void {
    this.text('"0x');
    if (value > 0xffff_ffffn) {
      this.text(value.toString(16));
    } else {
      const low = Number(value);
      this.#reserve(8);
      for (let shift = low === 0 ? 0 : (31 - Math.clz32(low)) & ~3; shift >= 0; shift -= 4) {
        this.#piece[this.#at++] = HEX_DIGITS[(low >>> shift) & 15]!;
      }
    }
    this.text('"');
  }

  /** Texts as they are, bigints as QUANTITY and bytes as DATA in quotes. */
  parts(...parts: readonly (string | bigint | Uint8Array)[]): void {
    for (const part of parts) {
      if (typeof part === "string") this.text(part);
      else if (typeof part === "bigint") this.quantityOf(part);
      else this.data(part);
    }
  }

  /** DATA in quotes. */
  data(bytes: Uint8Array): void {
    this.text('"0x');
    this.hex(bytes, 0, bytes.length);
    this.text('"');
  }

  append(text: TraceText): void {
    if (typeof text === "string") this.text(text);
    else for (const piece of text) this.#bytes(piece);
  }

  /** The text: a string if the first piece has all of it; nothing can be written after. */
  finishText(): TraceText {
    if (this.#pieces.length === 0) {
      const { buffer, byteOffset } = this.#piece;
      return Buffer.from(buffer, byteOffset, this.#at).toString();
    }
    if (this.#scratch !== undefined) this.#pieces[0] = this.#pieces[0]!.slice();
    return this.finish();
  }

  /** The pieces, each in a buffer of its own; nothing can be written after. */
  finish(): readonly Uint8Array[] {
    // A small part of a buffer would hold all of its memory.
    const isMostlyEmpty = 2 * this.#at < this.#piece.length;
    this.#pieces.push(isMostlyEmpty ? this.#piece.slice(0, this.#at) : this.#piece.subarray(0, this.#at));
    return this.#pieces;
  }

  #longText(text: string): void {
    this.#reserve(text.length);
    const { read, written } = ENCODER.encodeInto(text, this.#piece.subarray(this.#at));
    this.#at += written;
    if (read < text.length) this.#bytes(Buffer.from(text.slice(read)));
  }

  #shortHex(bytes: Uint8Array, start: number, end: number): void {
    this.#reserve(2 * (end - start));
    const piece = this.#piece;
    let at = this.#at;
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!;
      piece[at++] = HEX_DIGITS[byte >> 4]!;
      piece[at++] = HEX_DIGITS[byte & 15]!;
    }
    this.#at = at;
  }

  #bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#piece.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  #reserve(length: number): void {
    if (this.#at + length <= this.#piece.length) return;
    this.#pieces.push(this.#piece.subarray(0, this.#at));
    this.#bytesBefore += this.#at;
    const size = Math.min(2 * this.#piece.length, PIECE_BYTES_MAX);
    this.#piece = new Uint8Array(Math.max(size, length));
    this.#at = 0;
  }
}
