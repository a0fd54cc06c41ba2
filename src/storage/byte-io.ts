import { crc32 } from "node:zlib";
import { NodeError } from "../errors.ts";

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const U64_MAX = 2n ** 64n - 1n;
const U128_MAX = 2n ** 128n - 1n;

/** Bytes that do not hold what their format says. */
export class MalformedBytesError extends NodeError {
  readonly code = "STORE_MALFORMED_BYTES";
}

/**
 * Builds a byte string front to back. Integers of unknown size are LEB128 varints: seven bits a
 * byte, lowest first, the top bit set on all but the last.
 */
export class ByteWriter {
  #buffer: Buffer;
  #length = 0;

  constructor(capacity = 256) {
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  /** @param value an integer from 0 to 2^53 − 1 */
  varint(value: number): void {
    this.#reserve(8);
    this.#length = writeVarint(value, this.#buffer, this.#length);
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#buffer.writeUInt32LE(value, this.#length);
    this.#length += 4;
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  /** The bytes after `0x`, whose number the reader must know. */
  hex(value: string): void {
    const length = (value.length - 2) / 2;
    this.#reserve(length);
    this.#buffer.write(value.slice(2), this.#length, "hex");
    this.#length += length;
  }

  /** Length as varint, then the bytes. */
  block(value: Uint8Array): void {
    this.varint(value.length);
    this.bytes(value);
  }

  /** Big-endian without leading zeros after one byte of length; at most 255 bytes. */
  bigint(value: bigint): void {
    this.#reserve(1);
    const start = this.#length++;
    this.unsizedBigint(value);
    this.#buffer[start] = this.#length - start - 1;
  }

  /** The same without its length. Small ones are several times as fast as large ones. */
  unsizedBigint(value: bigint): void {
    if (value <= SAFE_MAX) this.#safeInteger(Number(value));
    else if (value <= U128_MAX) this.#u128(value);
    else {
      const digits = value.toString(16);
      const length = (digits.length + 1) >> 1;
      this.#reserve(length);
      this.#buffer.write(digits.padStart(length * 2, "0"), this.#length, "hex");
      this.#length += length;
    }
  }

  #safeInteger(value: number): void {
    let length = 0;
    for (let rest = value; rest >= 1; rest /= 256) length++;
    this.#reserve(length);
    let rest = value;
    for (let at = this.#length + length - 1; at >= this.#length; at--) {
      this.#buffer[at] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    this.#length += length;
  }

  #u128(value: bigint): void {
    this.#reserve(16);
    const start = this.#length;
    this.#buffer.writeBigUInt64BE(value >> 64n, start);
    this.#buffer.writeBigUInt64BE(value & U64_MAX, start + 8);
    let first = start;
    while (this.#buffer[first] === 0) first++;
    this.#buffer.copyWithin(start, first, start + 16);
    this.#length = start + 16 - (first - start);
  }

  /** Leaves `count` bytes zero, to be patched. */
  skip(count: number): void {
    this.#reserve(count);
    for (let left = count; left > 0; left--) this.#buffer[this.#length++] = 0;
  }

  /** Puts `value` over a byte written before. */
  patchByte(offset: number, value: number): void {
    this.#buffer[offset] = value;
  }

  /** Puts `value` over four bytes written before. */
  patchU32(offset: number, value: number): void {
    this.#buffer.writeUInt32LE(value, offset);
  }

  /** The same with eight. @param value an integer from 0 to 2^53 − 1 */
  patchU64(offset: number, value: number): void {
    this.#buffer.writeUInt32LE(value % 2 ** 32, offset);
    this.#buffer.writeUInt32LE(Math.floor(value / 2 ** 32), offset + 4);
  }

  /** The same with the bytes after `0x`. */
  patchHex(offset: number, value: string): void {
    this.#buffer.write(value.slice(2), offset, "hex");
  }

  /** crc32 of the bytes written from offset `start` to `end`, after those whose crc32 is `seed`. */
  checksum(start: number, end: number, seed = 0): number {
    return crc32(this.#buffer.subarray(start, end), seed);
  }

  /** What was written, as a view: the writer must not be used afterwards. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + count));
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
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
  readonly #buffer: Buffer;
  offset: number;

  constructor(bytes: Uint8Array, offset = 0) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.offset = offset;
  }

  get atEnd(): boolean {
    return this.offset >= this.#buffer.length;
  }

  byte(): number {
    return this.#buffer[this.#take(1)]!;
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
    return this.#buffer.readUInt32LE(this.#take(4));
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
    return crc32(this.#buffer.subarray(start, end));
  }

  /** A view of the next bytes. */
  bytes(length: number): Buffer {
    const start = this.#take(length);
    return this.#buffer.subarray(start, start + length);
  }

  /** The next bytes as lower-case hex with prefix. */
  hex(length: number): `0x${string}` {
    const start = this.#take(length);
    return `0x${this.#buffer.toString("hex", start, start + length)}`;
  }

  block(): Buffer {
    return this.bytes(this.varint());
  }

  bigint(): bigint {
    const length = this.byte();
    const start = this.#take(length);
    if (length === 0) return 0n;
    if (length <= 6) return BigInt(this.#buffer.readUIntBE(start, length));
    return BigInt(`0x${this.#buffer.toString("hex", start, start + length)}`);
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
    if (start + count > this.#buffer.length) {
      throw new MalformedBytesError(`input ends ${start + count - this.#buffer.length} bytes early`);
    }
    this.offset = start + count;
    return start;
  }
}
