import { decodeText, type Encoding, encodeText, writeHex } from "./text-encodings.ts";

/** The subset of Node's `Buffer` that this node uses, with Node's semantics. */
class BrowserBuffer extends Uint8Array {
  static alloc(size: number): BrowserBuffer {
    return new BrowserBuffer(size);
  }

  static allocUnsafe(size: number): BrowserBuffer {
    return new BrowserBuffer(size);
  }

  static allocUnsafeSlow(size: number): BrowserBuffer {
    return new BrowserBuffer(size);
  }

  /** A view of an ArrayBuffer; a copy of other arguments. */
  static make(
    source: string | ArrayBufferLike | Uint8Array | readonly number[],
    encodingOrOffset?: Encoding | number,
    length?: number,
  ): BrowserBuffer {
    if (typeof source === "string") {
      const bytes = decodeText(source, encodingOrOffset as Encoding | undefined);
      return new BrowserBuffer(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    if (source instanceof ArrayBuffer || !("length" in source)) {
      const buffer = source as ArrayBuffer;
      return new BrowserBuffer(buffer, encodingOrOffset as number | undefined, length);
    }
    const copy = new BrowserBuffer(source.length);
    copy.set(source);
    return copy;
  }

  static isBuffer(value: unknown): value is BrowserBuffer {
    return value instanceof BrowserBuffer;
  }

  static byteLength(value: string | { readonly byteLength: number }, encoding?: Encoding): number {
    return typeof value === "string" ? decodeText(value, encoding).length : value.byteLength;
  }

  static concat(parts: readonly Uint8Array[], size?: number): BrowserBuffer {
    const joined = new BrowserBuffer(size ?? parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      const fitting = part.subarray(0, joined.length - at);
      joined.set(fitting, at);
      at += fitting.length;
    }
    return joined;
  }

  static compare(a: Uint8Array, b: Uint8Array): -1 | 0 | 1 {
    const length = Math.min(a.length, b.length);
    for (let i = 0; i < length; i++) {
      const difference = a[i]! - b[i]!;
      if (difference !== 0) return difference < 0 ? -1 : 1;
    }
    return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
  }

  override toString(encoding?: Encoding, start = 0, end = this.length): string {
    const isWhole = start === 0 && end === this.length;
    return encodeText(isWhole ? this : this.subarray(start, end), encoding);
  }

  hexSlice(start: number, end: number): string {
    return this.toString("hex", start, end);
  }

  latin1Slice(start: number, end: number): string {
    return this.toString("latin1", start, end);
  }

  write(text: string, offset?: number | Encoding, length?: number | Encoding, encoding?: Encoding) {
    const start = typeof offset === "number" ? offset : 0;
    const room = Math.min(this.length - start, typeof length === "number" ? length : Infinity);
    const form = [offset, length, encoding].find((each) => typeof each === "string");
    if (form === "hex") return writeHex(this, text, start, room);
    const bytes = decodeText(text, form as Encoding | undefined).subarray(0, room);
    this.set(bytes, start);
    return bytes.length;
  }

  equals(other: Uint8Array): boolean {
    return BrowserBuffer.compare(this, other) === 0;
  }

  compare(target: Uint8Array, targetStart?: number, targetEnd?: number, start?: number, end?: number): -1 | 0 | 1 {
    const other = target.subarray(targetStart, targetEnd);
    return BrowserBuffer.compare(this.subarray(start, end), other);
  }

  copy(target: Uint8Array, targetStart = 0, start = 0, end = this.length): number {
    const part = this.subarray(start, Math.min(end, start + target.length - targetStart));
    target.set(part, targetStart);
    return part.length;
  }

  override indexOf(value: number | Uint8Array, from = 0): number {
    if (typeof value === "number") return super.indexOf(value, from);
    for (let at = super.indexOf(value[0]!, from); at >= 0; at = super.indexOf(value[0]!, at + 1)) {
      if (this.compare(value, 0, value.length, at, at + value.length) === 0) return at;
    }
    return -1;
  }

  /** Big-endian, of 1 to 6 bytes. */
  readUIntBE(at: number, size: number): number {
    let value = 0;
    for (let i = 0; i < size; i++) value = value * 256 + this[at + i]!;
    return value;
  }

  writeUIntBE(value: number, at: number, size: number): number {
    let rest = value;
    for (let i = at + size - 1; i >= at; i--) {
      this[i] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    return at + size;
  }

  readUInt16LE(at = 0): number {
    return viewOf(this).getUint16(at, true);
  }

  readUInt16BE(at = 0): number {
    return viewOf(this).getUint16(at);
  }

  readUInt32LE(at = 0): number {
    return viewOf(this).getUint32(at, true);
  }

  readUInt32BE(at = 0): number {
    return viewOf(this).getUint32(at);
  }

  readBigUInt64LE(at = 0): bigint {
    return viewOf(this).getBigUint64(at, true);
  }

  readBigUInt64BE(at = 0): bigint {
    return viewOf(this).getBigUint64(at);
  }

  readBigInt64LE(at = 0): bigint {
    return viewOf(this).getBigInt64(at, true);
  }

  writeUInt16LE(value: number, at = 0): number {
    viewOf(this).setUint16(at, value, true);
    return at + 2;
  }

  writeUInt32LE(value: number, at = 0): number {
    viewOf(this).setUint32(at, value, true);
    return at + 4;
  }

  writeUInt32BE(value: number, at = 0): number {
    viewOf(this).setUint32(at, value);
    return at + 4;
  }

  writeBigUInt64LE(value: bigint, at = 0): number {
    viewOf(this).setBigUint64(at, value, true);
    return at + 8;
  }

  writeBigUInt64BE(value: bigint, at = 0): number {
    viewOf(this).setBigUint64(at, value);
    return at + 8;
  }
}

/** V8 does not allocate a view that does not escape the function. */
function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

export type Buffer = BrowserBuffer;

/** Typed arrays define `from` differently, so a subclass cannot have Node's. */
export const Buffer: Omit<typeof BrowserBuffer, "from"> & {
  readonly from: typeof BrowserBuffer.make;
} = Object.assign(BrowserBuffer, { from: BrowserBuffer.make });
