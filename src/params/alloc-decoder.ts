import { ADDRESS_LENGTH } from "../primitives/address.ts";
import { HEX_VALUES } from "../primitives/hex.ts";
import { KeyTable } from "./key-table.ts";
import { PACKED, PackedAlloc } from "./packed-alloc.ts";

const ADDRESS_DIGITS = 2 * ADDRESS_LENGTH;
const NONCE_LENGTH = 8;
const WORD_LENGTH = 32;
/** `JSON.parse` moves keys to the front that are small integers; the longest of them has so many digits. */
const MOVED_KEY_DIGITS = 10;
/** Decimal digits taken together, with limbs of 24 bits: their product and a carry are exact in a double. */
const CHUNK_DIGITS = 7;
const LIMB = 2 ** 24;
/** For the longest integer that is looked at. */
const DECIMAL_DIGITS_MAX = 80;
const LIMBS = 12;

const QUOTE = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const LARGE_X = 0x58;
const BACKSLASH = 0x5c;
const SMALL_N = 0x6e;
const SMALL_X = 0x78;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** With the comma or the end after it. */
const SHORTEST_ACCOUNT = `"${"0".repeat(ADDRESS_DIGITS)}":{"balance":0},`;

/** The members of an account, as bits. */
const PART = { balance: 1, nonce: 2, code: 4, storage: 8 } as const;
const PARTS = Object.entries(PART).map(([key, bit]) => [`${key}"`, bit] as const);

/** The text is not plainly that of valid accounts. */
class UnusualTextError extends Error {}

/**
 * Decodes the accounts of a genesis file in one pass over its text, without an object for any of them. What is not plainly an account, or is there
 * twice, is left to the parser of the whole file, which knows what is wrong, or what JSON makes of it.
 * @param first where the first account begins
 * @returns undefined where the whole file has to be parsed; otherwise `end` is after the end of `alloc`
 */
export function decodeAlloc(
  text: string,
  first: number,
): { readonly alloc: PackedAlloc; readonly end: number } | undefined {
  try {
    const decoder = new AllocDecoder(text, first);
    const alloc = decoder.accounts();
    return alloc.isUnique ? { alloc, end: decoder.at } : undefined;
  } catch (error) {
    if (error instanceof UnusualTextError) return undefined;
    throw error;
  }
}

class AllocDecoder {
  readonly #text: string;
  at: number;
  readonly #accounts: Uint8Array;
  readonly #codeStarts: Uint32Array;
  readonly #slotStarts: Uint32Array;
  #count = 0;
  #codes = new Uint8Array(1_024);
  #codesLength = 0;
  #slots = new Uint8Array(PACKED.slotLength * 16);
  #slotCount = 0;
  readonly #limbs = new Float64Array(LIMBS);

  constructor(text: string, first: number) {
    this.#text = text;
    this.at = first;
    // Pages that are not written to take no memory.
    const countMax = Math.ceil((text.length - first) / SHORTEST_ACCOUNT.length);
    this.#accounts = new Uint8Array(countMax * PACKED.accountLength);
    this.#codeStarts = new Uint32Array(countMax + 1);
    this.#slotStarts = new Uint32Array(countMax + 1);
  }

  accounts(): PackedAlloc {
    do {
      this.#account(this.#count * PACKED.accountLength);
      this.#count++;
      this.#codeStarts[this.#count] = this.#codesLength;
      this.#slotStarts[this.#count] = this.#slotCount;
    } while (this.#hasMore());
    return new PackedAlloc({
      count: this.#count,
      accounts: this.#accounts,
      codes: this.#codes,
      codeStarts: this.#codeStarts,
      slots: this.#slots,
      slotStarts: this.#slotStarts,
    });
  }

  /** Writes the account at `row`, which has zeros. */
  #account(row: number): void {
    this.#expect(QUOTE);
    this.#passPrefix(false);
    this.#hexBytes(ADDRESS_DIGITS, this.#accounts, row);
    this.#expectNext(QUOTE);
    this.#expect(COLON);
    this.#expect(OPEN);
    let seen = 0;
    do {
      const part = this.#part();
      if ((seen & part) !== 0) throw new UnusualTextError();
      seen |= part;
      if (part === PART.balance) this.#integer(row + PACKED.balanceOffset, WORD_LENGTH);
      else if (this.#text.charCodeAt(this.at) === SMALL_N) this.#null();
      else if (part === PART.nonce) this.#integer(row + PACKED.nonceOffset, NONCE_LENGTH);
      else if (part === PART.code) this.#code();
      else if (part === PART.storage) this.#storage();
      else {
        this.#expectNext(QUOTE);
        this.#skipString();
      }
    } while (this.#hasMore());
    if ((seen & PART.balance) === 0) throw new UnusualTextError();
  }

  /** The bit of a member by its key; 0 for one that means nothing. What follows is the first character of its value. */
  #part(): number {
    this.#expect(QUOTE);
    let part = 0;
    for (const [key, bit] of PARTS) if (this.#text.startsWith(key, this.at)) part = bit;
    this.#skipString();
    this.#expect(COLON);
    this.#skipSpace();
    return part;
  }

  #code(): void {
    this.#expectNext(QUOTE);
    if (this.#text.charCodeAt(this.at) === QUOTE) {
      this.at++;
      return;
    }
    if (!this.#passPrefix(false)) throw new UnusualTextError();
    const end = this.#text.indexOf('"', this.at);
    const digits = end - this.at;
    if (end < 0 || digits % 2 !== 0) throw new UnusualTextError();
    const length = this.#codesLength + digits / 2;
    if (length > this.#codes.length) this.#codes = grown(this.#codes, length);
    this.#hexBytes(digits, this.#codes, this.#codesLength);
    this.#codesLength = length;
    this.at++;
  }

  #storage(): void {
    this.#expectNext(OPEN);
    const first = this.#slotCount;
    this.#skipSpace();
    if (this.#text.charCodeAt(this.at) === CLOSE) {
      this.at++;
      return;
    }
    do {
      const start = this.#slotCount * PACKED.slotLength;
      const end = start + PACKED.slotLength;
      if (end > this.#slots.length) this.#slots = grown(this.#slots, end);
      // A slot that was left out may have been here.
      this.#slots.fill(0, start, end);
      this.#expect(QUOTE);
      this.#word(start, true);
      this.#expect(COLON);
      this.#expect(QUOTE);
      this.#word(start + PACKED.valueOffset, false);
      this.#slotCount++;
    } while (this.#hasMore());
    this.#storeSlots(first);
  }

  /** Each slot must be there once; those of value 0 do not exist (Yellow Paper 4.1). */
  #storeSlots(first: number): void {
    const length = PACKED.slotLength;
    const rows = this.#slots.subarray(first * length, this.#slotCount * length);
    const count = this.#slotCount - first;
    if (count > 1 && !new KeyTable(rows, length, WORD_LENGTH, count).isUnique) throw new UnusualTextError();
    let stored = 0;
    for (let slot = 0; slot < count; slot++) {
      const start = slot * length;
      let at = start + PACKED.valueOffset;
      while (at < start + length && rows[at] === 0) at++;
      if (at === start + length) continue;
      if (stored < slot) rows.copyWithin(stored * length, start, start + length);
      stored++;
    }
    this.#slotCount = first + stored;
  }

  /** Up to 32 bytes of hex before a quote, prefix optional. */
  #word(offset: number, isKey: boolean): void {
    const hasPrefix = this.#passPrefix(true);
    const start = this.at;
    const end = this.#text.indexOf('"', start);
    const digits = end - start;
    if (end < 0 || digits > 2 * WORD_LENGTH) throw new UnusualTextError();
    if (isKey && !hasPrefix && digits <= MOVED_KEY_DIGITS) throw new UnusualTextError();
    this.#hexNumber(end, this.#slots, offset, WORD_LENGTH);
    this.at = end + 1;
  }

  /** A number of at most `length` bytes: a JSON number, or a decimal or hex string. */
  #integer(offset: number, length: number): void {
    const isText = this.#text.charCodeAt(this.at) === QUOTE;
    if (isText) this.at++;
    const start = this.at;
    if (isText && this.#text.charCodeAt(start) === QUOTE) {
      this.at++;
      return;
    }
    if (isText && this.#passPrefix(true)) {
      const end = this.#text.indexOf('"', this.at);
      if (end <= this.at) throw new UnusualTextError();
      this.#hexNumber(end, this.#accounts, offset, length);
      this.at = end + 1;
      return;
    }
    this.#decimal(offset, length);
    const digits = this.at - start;
    if (digits === 0) throw new UnusualTextError();
    if (isText) this.#expectNext(QUOTE);
    // JSON has no such numbers.
    else if (digits > 1 && this.#text.charCodeAt(start) === ZERO) throw new UnusualTextError();
  }

  /** Decimal digits, as many as there are. */
  #decimal(offset: number, length: number): void {
    const text = this.#text;
    const limbs = this.#limbs;
    const start = this.at;
    let end = start;
    for (let code = text.charCodeAt(end); code >= ZERO && code <= NINE; code = text.charCodeAt(end)) end++;
    if (end - start > DECIMAL_DIGITS_MAX) throw new UnusualTextError();
    let used = 0;
    for (let at = start; at < end; ) {
      const chunkEnd = Math.min(at + CHUNK_DIGITS, end);
      let factor = 1;
      let carry = 0;
      for (; at < chunkEnd; at++) {
        carry = carry * 10 + text.charCodeAt(at) - ZERO;
        factor *= 10;
      }
      for (let i = 0; i < used; i++) {
        const sum = limbs[i]! * factor + carry;
        carry = Math.floor(sum / LIMB);
        limbs[i] = sum - carry * LIMB;
      }
      if (carry > 0) limbs[used++] = carry;
    }
    this.at = end;
    const bytes = this.#accounts;
    let to = offset + length;
    for (let i = 0; i < used; i++) {
      for (let limb = limbs[i]!, n = 0; n < 3; n++, limb >>= 8) {
        if (to > offset) bytes[--to] = limb;
        else if ((limb & 255) !== 0) throw new UnusualTextError();
      }
    }
  }

  /** Writes the number with the hex digits up to `end` into `length` bytes that are 0. */
  #hexNumber(end: number, out: Uint8Array, offset: number, length: number): void {
    const text = this.#text;
    let to = offset + length;
    let at = end;
    while (at > this.at) {
      const low = HEX_VALUES[text.charCodeAt(--at)] ?? 16;
      const high = at > this.at ? (HEX_VALUES[text.charCodeAt(--at)] ?? 16) : 0;
      if (low > 15 || high > 15) throw new UnusualTextError();
      const byte = (high << 4) | low;
      if (to > offset) out[--to] = byte;
      else if (byte !== 0) throw new UnusualTextError();
    }
  }

  /** Writes the bytes of the next `digits` hex digits. */
  #hexBytes(digits: number, out: Uint8Array, offset: number): void {
    const text = this.#text;
    const end = this.at + digits;
    let to = offset;
    for (let at = this.at; at < end; at += 2) {
      const high = HEX_VALUES[text.charCodeAt(at)] ?? 16;
      const low = HEX_VALUES[text.charCodeAt(at + 1)] ?? 16;
      if (high > 15 || low > 15) throw new UnusualTextError();
      out[to++] = (high << 4) | low;
    }
    this.at = end;
  }

  /** Passes `0x`, and `0X` where that may be; whether it was there. */
  #passPrefix(mayBeLarge: boolean): boolean {
    const { at } = this;
    if (this.#text.charCodeAt(at) !== ZERO) return false;
    const code = this.#text.charCodeAt(at + 1);
    if (code !== SMALL_X && !(mayBeLarge && code === LARGE_X)) return false;
    this.at = at + 2;
    return true;
  }

  #null(): void {
    if (!this.#text.startsWith("null", this.at)) throw new UnusualTextError();
    this.at += 4;
  }

  /** Passes the rest of a string with its quote. */
  #skipString(): void {
    const text = this.#text;
    for (;;) {
      const code = text.charCodeAt(this.at++);
      if (code === QUOTE) return;
      // Escapes, control characters, and the end of the text.
      if (!(code > 31) || code === BACKSLASH) throw new UnusualTextError();
    }
  }

  /** After a member: true before the next one; false after the end of the object. */
  #hasMore(): boolean {
    this.#skipSpace();
    const code = this.#text.charCodeAt(this.at++);
    if (code === COMMA) return true;
    if (code === CLOSE) return false;
    throw new UnusualTextError();
  }

  #expect(code: number): void {
    this.#skipSpace();
    this.#expectNext(code);
  }

  #expectNext(code: number): void {
    if (this.#text.charCodeAt(this.at++) !== code) throw new UnusualTextError();
  }

  #skipSpace(): void {
    const text = this.#text;
    for (;;) {
      const code = text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.at++;
    }
  }
}

function grown(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(bytes.length * 2, length));
  larger.set(bytes);
  return larger;
}
