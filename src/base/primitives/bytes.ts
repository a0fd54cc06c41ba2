import { writeHex } from "./hex.ts";

/** The empty byte string; shared, never written to. */
export const EMPTY_BYTES: Uint8Array = new Uint8Array(0);

/** One new array holding `parts` in order. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** The same bytes as a plain Uint8Array: slicing a Buffer, and reading a number from it, goes through several functions of Node.js. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return bytes instanceof Buffer ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) : bytes;
}

/** True when both hold the same bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  const { length } = a;
  if (length !== b.length) return false;
  // A hash: six functions of Node.js take longer than the loop.
  if (length > 64) return Buffer.compare(a, b) === 0;
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Unsigned big-endian integer of `bytes`; the empty string is 0. */
export function bytesToBigint(bytes: Uint8Array): bigint {
  return readBigint(bytes, 0, bytes.length);
}

/** `bytesToBigint` of the bytes from `start` to `end`. */
export function readBigint(bytes: Uint8Array, start: number, end: number): bigint {
  const length = end - start;
  // Most numbers on the chain are small: a plain number takes a tenth of the time of a conversion through hex.
  if (length <= 6) {
    let value = 0;
    for (let i = start; i < end; i++) value = value * 256 + bytes[i]!;
    return BigInt(value);
  }
  if (length <= 12) {
    let high = 0;
    let low = 0;
    for (let i = start; i < end - 6; i++) high = high * 256 + bytes[i]!;
    for (let i = end - 6; i < end; i++) low = low * 256 + bytes[i]!;
    return (BigInt(high) << 48n) | BigInt(low);
  }
  if (length === 32) {
    const words = new DataView(bytes.buffer, bytes.byteOffset + start, length);
    return (
      (words.getBigUint64(0) << 192n) |
      (words.getBigUint64(8) << 128n) |
      (words.getBigUint64(16) << 64n) |
      words.getBigUint64(24)
    );
  }
  const digits = Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString("hex");
  return BigInt(`0x${digits}`);
}

/** Shortest big-endian form of `value`; 0 is the empty string, as in RLP. */
export function bigintToBytes(value: bigint): Uint8Array {
  if (value === 0n) return EMPTY_BYTES;
  if (value <= SAFE_MAX) {
    // Several times as quick as by its digits.
    let rest = Number(value);
    let length = 1;
    for (let end = 256; end <= rest; end *= 256) length++;
    const bytes = new Uint8Array(length);
    for (let i = length - 1; i >= 0; i--) {
      bytes[i] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    return bytes;
  }
  if (value < WORD_END) {
    const bytes = wordToBytes(value);
    let start = 0;
    while (bytes[start] === 0) start++;
    return bytes.subarray(start);
  }
  let digits = value.toString(16);
  if (digits.length % 2 === 1) digits = `0${digits}`;
  return digitsToBytes(digits);
}

/** Big-endian form of `value` in exactly `length` bytes; `value` must fit. */
export function bigintToFixedBytes(value: bigint, length: number): Uint8Array {
  if (length === 32 && value < WORD_END) return wordToBytes(value);
  return digitsToBytes(value.toString(16).padStart(length * 2, "0"));
}

/** `bytes` left-padded with zeros until it is `length` long. */
export function leftPad(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length >= length) return bytes;
  const padded = new Uint8Array(length);
  padded.set(bytes, length - bytes.length);
  return padded;
}

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const WORD_END = 2n ** 256n;

function wordToBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(32);
  const words = new DataView(bytes.buffer);
  // Each call takes the low 64 bits.
  words.setBigUint64(0, value >> 192n);
  words.setBigUint64(8, value >> 128n);
  words.setBigUint64(16, value >> 64n);
  words.setBigUint64(24, value);
  return bytes;
}

function digitsToBytes(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length / 2);
  writeHex(`0x${digits}`, bytes, 0);
  return bytes;
}
