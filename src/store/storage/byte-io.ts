import { NodeError } from "../../base/errors.ts";
import { bytesToBigint, plainBytes } from "../../base/primitives/bytes.ts";
import { bytesToHex, type Hex, writeHex } from "../../base/primitives/hex.ts";
import { extendCrc32 } from "./crc32.ts";

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const U128_MAX = 2n ** 128n - 1n;

/** Bytes that do not hold what their format says. */
export class MalformedBytesError extends NodeError {
  readonly code = "STORE_MALFORMED_BYTES";
}

/**
 * Builds a byte string front to back, in a plain array: methods of a Buffer go through several functions of Node.js each. Integers of unknown size are LEB128 varints: seven bits a
 * byte, lowest first, the top bit set on all but the last.
 */
export class ByteWriter {
  #bytes: Uint8Array;
  /** Bytes written so far. */
  length = 0;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
  }

  byte(value: number): void {
    if (this.length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.length++] = value;
  }

  /** @param value an integer from 0 to 2^53 − 1 */
  varint(value: number): void {
    if (this.length + 8 > this.#bytes.length) this.#grow(8);
    if (value < 0x80) this.#bytes[this.length++] = value;
    else this.length = writeVarint(value, this.#bytes, this.length);
  }

  u32(value: number): void {
    if (this.length + 4 > this.#bytes.length) this.#grow(4);
    this.patchU32(this.length, value);
    this.length += 4;
  }

  bytes(value: Uint8Array): void {
    if (this.length + value.length > this.#bytes.length) this.#grow(value.length);
    this.#bytes.set(value, this.length);
    this.length += value.length;
  }

  /** The bytes after `0x`, whose number the reader must know. */
  hex(value: Hex): void {
    if (this.length + (value.length - 2) / 2 > this.#bytes.length) this.#grow((value.length - 2) / 2);
    this.length = writeHex(value, this.#bytes, this.length);
  }

  /** Length as varint, then the bytes. */
  block(value: Uint8Array): void {
    this.varint(value.length);
    this.bytes(value);
  }

  /**
   * Big-endian without leading zeros; at most 255 bytes. Small ones are several times as fast as large ones.
   * @param hasLength one byte of length before it
   */
  bigint(value: bigint, hasLength = true): void {
    if (this.length + 8 > this.#bytes.length) this.#grow(8);
    const start = this.length;
    if (hasLength) this.length++;
    if (value <= SAFE_MAX) {
      let rest = Number(value);
      let length = 0;
      for (let end = 1; end <= rest; end *= 256) length++;
      for (let at = this.length + length - 1; at >= this.length; at--) {
        this.#bytes[at] = rest % 256;
        rest = Math.floor(rest / 256);
      }
      this.length += length;
    } else if (value <= U128_MAX) this.#u128(value);
    else {
      const digits = value.toString(16);
      this.hex(digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`);
    }
    if (hasLength) this.#bytes[start] = this.length - start - 1;
  }

  #u128(value: bigint): void {
    if (this.length + 16 > this.#bytes.length) this.#grow(16);
    const start = this.length;
    const words = new DataView(this.#bytes.buffer);
    words.setBigUint64(start, value >> 64n);
    // Takes the low 64 bits.
    words.setBigUint64(start + 8, value);
    let first = start;
    while (this.#bytes[first] === 0) first++;
    this.#bytes.copyWithin(start, first, start + 16);
    this.length = start + 16 - (first - start);
  }

  /** Leaves `count` bytes zero, to be patched. */
  skip(count: number): void {
    if (this.length + count > this.#bytes.length) this.#grow(count);
    for (let left = count; left > 0; left--) this.#bytes[this.length++] = 0;
  }

  /** Puts `value` over a byte written before. */
  patchByte(offset: number, value: number): void {
    this.#bytes[offset] = value;
  }

  /** Puts `value` over four bytes written before, the lowest first. */
  patchU32(offset: number, value: number): void {
    const bytes = this.#bytes;
    bytes[offset] = value;
    bytes[offset + 1] = value >>> 8;
    bytes[offset + 2] = value >>> 16;
    bytes[offset + 3] = value >>> 24;
  }

  /** The same with eight. @param value an integer from 0 to 2^53 − 1 */
  patchU64(offset: number, value: number): void {
    this.patchU32(offset, value % 2 ** 32);
    this.patchU32(offset + 4, Math.floor(value / 2 ** 32));
  }

  /** The same with the bytes after `0x`. */
  patchHex(offset: number, value: Hex): void {
    writeHex(value, this.#bytes, offset);
  }

  /** crc32 of the bytes written from offset `start` to `end`, after those whose crc32 is `seed`. */
  checksum(start: number, end: number, seed = 0): number {
    return extendCrc32(seed, this.#bytes, start, end);
  }

  /** What was written, as a view: the writer must not be used afterwards. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  /** Makes room for `count` bytes more; callers look first, since most records fit. */
  #grow(count: number): void {
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + count));
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
  }
}

/** Writes a varint at `offset`; where it ends. @param value an integer from 0 to 2^53 − 1 */
export function writeVarint(value: number, out: Uint8Array, offset: number): number {
  let at = offset;
  let rest = value;
  while (rest >= 0x80) {
    out[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  out[at++] = rest;
  return at;
}

/** Bytes of a varint. */
export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}

/** Reads what ByteWriter wrote. Every method throws MalformedBytesError where the bytes end too early. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  offset: number;

  constructor(bytes: Uint8Array, offset = 0) {
    this.#bytes = plainBytes(bytes);
    this.offset = offset;
  }

  get atEnd(): boolean {
    return this.offset >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.#take(1)]!;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const next = this.byte();
      value += (next & 0x7f) * scale;
      if (next < 0x80) break;
      scale *= 0x80;
    }
    if (!Number.isSafeInteger(value)) throw new MalformedBytesError("varint beyond 2^53 - 1");
    return value;
  }

  u32(): number {
    const bytes = this.#bytes;
    const at = this.#take(4);
    return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
  }

  /** @throws MalformedBytesError above 2^53 − 1 */
  u64(): number {
    const low = this.u32();
    const value = low + this.u32() * 2 ** 32;
    if (!Number.isSafeInteger(value)) throw new MalformedBytesError("u64 beyond 2^53 - 1");
    return value;
  }

  /** crc32 of the bytes from offset `start` to `end`. */
  checksum(start: number, end: number): number {
    return extendCrc32(0, this.#bytes, start, end);
  }

  /** A view of the next bytes. */
  bytes(length: number): Uint8Array {
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** The next bytes as lower-case hex with prefix. */
  hex(length: number): Hex {
    return bytesToHex(this.bytes(length));
  }

  block(): Uint8Array {
    return this.bytes(this.varint());
  }

  bigint(): bigint {
    const length = this.byte();
    return length === 0 ? 0n : bytesToBigint(this.bytes(length));
  }

  /** Passes over the next bytes. */
  skip(length: number): void {
    this.#take(length);
  }

  /** Passes over what `bigint` reads. */
  skipBigint(): void {
    this.#take(this.byte());
  }

  #take(count: number): number {
    const start = this.offset;
    if (start + count > this.#bytes.length) {
      throw new MalformedBytesError(`input ends ${start + count - this.#bytes.length} bytes early`);
    }
    this.offset = start + count;
    return start;
  }
}
