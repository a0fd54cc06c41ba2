import { NodeError } from "../errors.ts";

/** Lower-case hex digits after `0x`. */
export type Hex = `0x${string}`;

/** The text is not valid hex of the required form; `details.reason` is geth's reason. */
export class InvalidHexError extends NodeError {
  readonly code = "INVALID_HEX";
  readonly reason: string;
  constructor(reason: string) {
    super(reason, { reason });
    this.reason = reason;
  }
}

/** Value of each Latin-1 character that is a hex digit, 16 for all others. */
const HEX_VALUES: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? 16 : value;
});

/** Up to this length, a loop is faster than wrapping the array in a Buffer: words, addresses, hashes, two words after a selector. */
const SHORT_LENGTH = 68;

const DATA_PATTERN = /^0x(?:[0-9a-fA-F]{2})*$/;

/** Hex of `bytes`, with prefix; empty input gives `0x`. */
export function bytesToHex(bytes: Uint8Array): Hex {
  return `0x${encodedText(bytes, "hex")}`;
}

/** V8 stores arrays of up to this size in its heap, and moves one out permanently when its buffer is requested. */
const HEAP_BYTES_MAX = 64;
/** A Buffer. All versions of Node.js have these methods, although undocumented: `toString` goes through three functions before it calls one of them. */
export type Sliceable = Uint8Array & Record<"hexSlice" | "latin1Slice", (start: number, end: number) => string>;
const scratch = Buffer.alloc(HEAP_BYTES_MAX) as unknown as Sliceable;

export function hexDigits(bytes: Uint8Array): string {
  return encodedText(bytes, "hex");
}

/** The text that a Buffer with the same bytes would give: hex digits, or one character per byte for Map keys. */
export function encodedText(bytes: Uint8Array, encoding: "hex" | "latin1"): string {
  const { length } = bytes;
  if (length <= HEAP_BYTES_MAX) {
    for (let i = 0; i < length; i++) scratch[i] = bytes[i]!;
    return encoding === "hex" ? scratch.hexSlice(0, length) : scratch.latin1Slice(0, length);
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString(encoding);
}

/**
 * Bytes of a DATA string: prefix `0x`, two digits per byte.
 * @throws InvalidHexError
 */
export function hexToBytes(text: string): Uint8Array {
  const bytes = dataToBytes(text);
  if (bytes === undefined) throw new InvalidHexError(whyNotData(text));
  return bytes;
}

/** `hexToBytes`, but undefined for malformed text. A few words are parsed and validated in one pass. */
export function dataToBytes(text: string): Uint8Array | undefined {
  const length = (text.length - 2) / 2;
  if (length > SHORT_LENGTH) {
    if (!DATA_PATTERN.test(text)) return undefined;
    const bytes = new Uint8Array(length);
    Buffer.from(bytes.buffer).write(text.slice(2), "hex");
    return bytes;
  }
  if (!Number.isInteger(length) || !text.startsWith("0x")) return undefined;
  const bytes = new Uint8Array(length);
  for (let i = 0, at = 2; i < length; i++, at += 2) {
    // Characters beyond Latin-1 have no entry.
    const high = HEX_VALUES[text.charCodeAt(at)] ?? 16;
    const low = HEX_VALUES[text.charCodeAt(at + 1)] ?? 16;
    if (high > 15 || low > 15) return undefined;
    bytes[i] = (high << 4) | low;
  }
  return bytes;
}

/** Writes the bytes of `text`, which must be well-formed, to `out` from `offset` on; returns the end offset. */
export function writeHex(text: Hex, out: Uint8Array, offset: number): number {
  let to = offset;
  for (let at = 2; at < text.length; at += 2) {
    out[to++] = (HEX_VALUES[text.charCodeAt(at)]! << 4) | HEX_VALUES[text.charCodeAt(at + 1)]!;
  }
  return to;
}

/** True when `text` is DATA: `0x` and an even number of hex digits. */
export function isData(text: string): text is Hex {
  return DATA_PATTERN.test(text);
}

function whyNotData(text: string): string {
  if (text === "") return "empty hex string";
  if (!text.startsWith("0x")) return "hex string without 0x prefix";
  if (!/^0x[0-9a-fA-F]*$/.test(text)) return "invalid hex string";
  return "hex string of odd length";
}
