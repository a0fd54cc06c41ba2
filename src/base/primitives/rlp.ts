import { NodeError } from "../errors.ts";

/**
 * Recursive Length Prefix: Yellow Paper, appendix B.
 *
 *     0x00..0x7f            the byte itself
 *     0x80..0xb7 ‖ bytes    string of 0..55 bytes
 *     0xb8..0xbf ‖ n ‖ ..   string of 56 bytes or more, length in 1..8 bytes
 *     0xc0..0xf7 ‖ items    list whose payload has 0..55 bytes
 *     0xf8..0xff ‖ n ‖ ..   list with a payload of 56 bytes or more
 *
 * Decoding accepts the canonical form only. Byte strings in a decoded item are views of the input.
 */
export type RlpItem = Uint8Array | readonly RlpItem[];

/** The bytes are not canonical RLP. The message is geth's. */
export class InvalidRlpError extends NodeError {
  readonly code = "INVALID_RLP";
}

/** A size that has a shorter encoding. */
export class NonCanonicalSizeError extends InvalidRlpError {
  constructor() {
    super("rlp: non-canonical size information");
  }
}

/** Maximum nesting of lists; no Ethereum structure needs more than a few levels. */
const DEPTH_MAX = 64;

export function encodeRlp(item: RlpItem): Uint8Array {
  if (!(item instanceof Uint8Array)) return encodeList(item, 0);
  if (item.length < 56 && item.length !== 1) {
    const bytes = new Uint8Array(1 + item.length);
    bytes[0] = 0x80 + item.length;
    bytes.set(item, 1);
    return bytes;
  }
  const bytes = new Uint8Array(encodedLength(item));
  writeRlp(item, bytes, 0);
  return bytes;
}

/** `type ‖ RLP(item)`, as EIP-2718 encodes transactions and receipts; the bare RLP for type 0. */
export function encodeTypedRlp(type: number, item: readonly RlpItem[]): Uint8Array {
  if (type === 0) return encodeRlp(item);
  const bytes = encodeList(item, 1);
  bytes[0] = type;
  return bytes;
}

/** RLP of a list after `offset` bytes. Measures its items once, where `encodedLength` and `writeRlp` would each do so. */
function encodeList(items: readonly RlpItem[], offset: number): Uint8Array {
  const payload = payloadLength(items);
  const bytes = new Uint8Array(offset + rlpListLength(payload));
  let at = writePrefix(0xc0, payload, bytes, offset);
  for (const item of items) {
    if (item instanceof Uint8Array && item.length < 56 && item.length !== 1) {
      bytes[at] = 0x80 + item.length;
      bytes.set(item, at + 1);
      at += 1 + item.length;
    } else at = writeRlp(item, bytes, at);
  }
  return bytes;
}

/** Bytes that `item` takes when encoded, prefix included. */
export function encodedLength(item: RlpItem): number {
  if (item instanceof Uint8Array) {
    if (item.length === 1 && item[0]! < 0x80) return 1;
    return prefixLength(item.length) + item.length;
  }
  const payload = payloadLength(item);
  return prefixLength(payload) + payload;
}

/** The list of already encoded items. */
export function encodeRlpListOf(encodedItems: readonly Uint8Array[]): Uint8Array {
  let payload = 0;
  for (const item of encodedItems) payload += item.length;
  const bytes = new Uint8Array(rlpListLength(payload));
  let at = writePrefix(0xc0, payload, bytes, 0);
  for (const item of encodedItems) {
    bytes.set(item, at);
    at += item.length;
  }
  return bytes;
}

/** Writes the prefix of a list whose encoded items take `payload` bytes; returns the offset of the first item. */
export function writeRlpListPrefix(payload: number, out: Uint8Array, offset: number): number {
  return writePrefix(0xc0, payload, out, offset);
}

/** Bytes of a list whose encoded items take `payload` bytes. */
export function rlpListLength(payload: number): number {
  return prefixLength(payload) + payload;
}

/**
 * The only item in `bytes`, which it must fill.
 * @throws InvalidRlpError
 */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  const { item, end } = decodeRlpAt(bytes, 0);
  if (end !== bytes.length) throw new InvalidRlpError("rlp: input contains more than one value");
  return item;
}

/**
 * The item at `offset`, and the offset of the next one.
 * @throws InvalidRlpError
 */
export function decodeRlpAt(bytes: Uint8Array, offset: number): { item: RlpItem; end: number } {
  return read(bytes, offset, bytes.length, 0);
}

/**
 * End of the item at `offset`, or of as many as `count`; does not decode their contents.
 * @throws InvalidRlpError
 */
export function rlpItemEnd(bytes: Uint8Array, offset: number, count = 1): number {
  let end = offset;
  for (let left = count; left > 0; left--) {
    const { start, length } = rlpPrefix(bytes, end, bytes.length, 0);
    end = start + length;
  }
  return end;
}

/**
 * Start and end of the payload of the list at `offset`; does not decode its items.
 * @throws InvalidRlpError
 */
export function rlpListBounds(bytes: Uint8Array, offset: number): { start: number; end: number } {
  const { isList, start, length } = rlpPrefix(bytes, offset, bytes.length, 0);
  if (!isList) throw new InvalidRlpError("rlp: expected List");
  return { start, end: start + length };
}

/**
 * Kind and payload of the first item of `bytes`, which may have more after it.
 * @throws InvalidRlpError with the texts of geth's `rlp.Split`
 */
export function splitRlp(bytes: Uint8Array): { isList: boolean; start: number; end: number } {
  const [first = 0] = bytes;
  const lengthBytes = Math.max(0, (first & 0x3f) - 55);
  const prefixBytes = first < 0x80 ? 1 : 1 + lengthBytes;
  if (bytes.length < prefixBytes) throw new InvalidRlpError("unexpected EOF");
  const { isList, start, length } = rlpPrefix(bytes, 0, bytes.length, 0);
  return { isList, start, end: start + length };
}

function payloadLength(items: readonly RlpItem[]): number {
  let total = 0;
  for (const item of items) {
    total +=
      item instanceof Uint8Array && item.length < 56 && item.length !== 1 ? 1 + item.length : encodedLength(item);
  }
  return total;
}

function prefixLength(length: number): number {
  if (length < 56) return 1;
  return length < 0x100 ? 2 : length < 0x10000 ? 3 : length < 0x1000000 ? 4 : length < 2 ** 32 ? 5 : 6;
}

/** Writes the RLP of `item` to `out` from `offset` on; returns the end offset. */
export function writeRlp(item: RlpItem, out: Uint8Array, offset: number): number {
  if (item instanceof Uint8Array) {
    if (item.length === 1 && item[0]! < 0x80) {
      out[offset] = item[0]!;
      return offset + 1;
    }
    const start = writePrefix(0x80, item.length, out, offset);
    out.set(item, start);
    return start + item.length;
  }
  let at = writePrefix(0xc0, payloadLength(item), out, offset);
  for (const child of item) at = writeRlp(child, out, at);
  return at;
}

/** Four words of 64 bits: the integer that is being written. */
const WORDS_LENGTH = 32;
const integerBytes = new Uint8Array(WORDS_LENGTH);
const integer = new DataView(integerBytes.buffer);
const WORD_LIMIT = 2n ** 64n;

/** Writes the RLP of an integer below 2^256 at `offset` of `out`; returns where it ends. */
export function writeRlpInteger(value: bigint, out: Uint8Array, offset: number): number {
  if (value === 0n) {
    out[offset] = 0x80;
    return offset + 1;
  }
  if (value < 0x80n) {
    out[offset] = Number(value);
    return offset + 1;
  }
  // The last word first: `setBigUint64` takes the lowest 64 bits.
  let start = WORDS_LENGTH - 8;
  integer.setBigUint64(start, value);
  for (let rest = value; rest >= WORD_LIMIT; ) {
    rest >>= 64n;
    start -= 8;
    integer.setBigUint64(start, rest);
  }
  while (integerBytes[start] === 0) start++;
  let at = offset;
  out[at++] = 0x80 + WORDS_LENGTH - start;
  while (start < WORDS_LENGTH) out[at++] = integerBytes[start++]!;
  return at;
}

function writePrefix(base: number, length: number, out: Uint8Array, offset: number): number {
  if (length < 56) {
    out[offset] = base + length;
    return offset + 1;
  }
  const size = prefixLength(length) - 1;
  out[offset] = base + 55 + size;
  for (let i = 0; i < size; i++) {
    out[offset + size - i] = Math.floor(length / 2 ** (8 * i)) % 256;
  }
  return offset + 1 + size;
}

/** An item's kind and its payload: `length` bytes from `start`. */
export type RlpPrefix = {
  readonly isList: boolean;
  readonly start: number;
  readonly length: number;
};

/** True for a string of one byte below 0x80 with a prefix: the canonical encoding is the byte itself. */
export function hasShorterForm(bytes: Uint8Array, offset: number, { isList, start, length }: RlpPrefix): boolean {
  return !isList && length === 1 && start > offset && bytes[start]! < 0x80;
}

/**
 * The prefix of the item at `offset`, which must end at or before `end`.
 * @param depth number of enclosing lists
 * @param isLenient the caller checks `hasShorterForm`
 * @throws InvalidRlpError
 */
export function rlpPrefix(bytes: Uint8Array, offset: number, end: number, depth: number, isLenient = false): RlpPrefix {
  if (offset >= end) throw new InvalidRlpError("EOF");
  const first = bytes[offset]!;
  if (first < 0x80) return { isList: false, start: offset, length: 1 };
  const isList = first >= 0xc0;
  const short = first - (isList ? 0xc0 : 0x80);
  let start = offset + 1;
  let length = short;
  if (short > 55) {
    const size = short - 55;
    start += size;
    if (start > end) throw new InvalidRlpError(tooLarge(depth));
    length = 0;
    for (let i = offset + 1; i < start; i++) length = length * 256 + bytes[i]!;
    // A length below 56, or with leading zeros, has a shorter form.
    if (length < 56 || bytes[offset + 1] === 0) {
      throw new NonCanonicalSizeError();
    }
  }
  if (length > end - start) {
    throw new InvalidRlpError(tooLarge(depth));
  }
  const prefix = { isList, start, length };
  if (length === 1 && !isLenient && hasShorterForm(bytes, offset, prefix)) throw new NonCanonicalSizeError();
  return prefix;
}

function tooLarge(depth: number): string {
  return depth === 0 ? "rlp: value size exceeds available input length" : "rlp: element is larger than containing list";
}

function read(bytes: Uint8Array, offset: number, end: number, depth: number): { item: RlpItem; end: number } {
  const { isList, start, length } = rlpPrefix(bytes, offset, end, depth);
  const itemEnd = start + length;
  if (!isList) return { item: bytes.subarray(start, itemEnd), end: itemEnd };
  if (depth >= DEPTH_MAX) throw new InvalidRlpError(`rlp: lists nested deeper than ${DEPTH_MAX}`);
  const items: RlpItem[] = [];
  for (let at = start; at < itemEnd; ) {
    const child = read(bytes, at, itemEnd, depth + 1);
    items.push(child.item);
    at = child.end;
  }
  return { item: items, end: itemEnd };
}
