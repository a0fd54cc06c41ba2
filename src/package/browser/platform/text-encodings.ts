/** The text encodings of Node's `Buffer` that this node uses. */
export type Encoding = "utf8" | "utf-8" | "hex" | "latin1" | "base64" | "base64url";

const BYTE_TO_HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
/** Value of a hex digit by its character code; -1 for other characters. */
const HEX_DIGITS = Int8Array.from({ length: 128 }, (_, code) =>
  "0123456789abcdef".indexOf(String.fromCharCode(code).toLowerCase()),
);
/** Maximum arguments of one `String.fromCharCode`. */
const CHARACTERS_MAX = 8_192;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function decodeText(text: string, encoding: Encoding = "utf8"): Uint8Array<ArrayBuffer> {
  switch (encoding) {
    case "hex": {
      const bytes = new Uint8Array(text.length >> 1);
      return bytes.subarray(0, writeHex(bytes, text, 0, bytes.length));
    }
    case "latin1": {
      const bytes = new Uint8Array(text.length);
      for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
      return bytes;
    }
    case "base64":
    case "base64url": {
      const standard = text
        .replaceAll("-", "+")
        .replaceAll("_", "/")
        .replace(/[^A-Za-z0-9+/]/g, "");
      return decodeText(atob(standard), "latin1");
    }
    default:
      return encoder.encode(text);
  }
}

export function encodeText(bytes: Uint8Array, encoding: Encoding = "utf8"): string {
  switch (encoding) {
    case "hex":
      return hexOf(bytes);
    case "latin1":
      return latin1Of(bytes);
    case "base64":
      return btoa(latin1Of(bytes));
    case "base64url":
      return btoa(latin1Of(bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    default:
      return decoder.decode(bytes);
  }
}

/** Writes at most `room` bytes of hex digits to `into` from `offset` on, up to the first non-digit; returns their count. */
export function writeHex(into: Uint8Array, text: string, offset: number, room: number): number {
  const count = Math.min(text.length >> 1, room);
  for (let i = 0; i < count; i++) {
    const high = HEX_DIGITS[text.charCodeAt(2 * i)] ?? -1;
    const low = HEX_DIGITS[text.charCodeAt(2 * i + 1)] ?? -1;
    if (high < 0 || low < 0) return i;
    into[offset + i] = high * 16 + low;
  }
  return count;
}

function hexOf(bytes: Uint8Array): string {
  let digits = "";
  for (let i = 0; i < bytes.length; i++) digits += BYTE_TO_HEX[bytes[i]!];
  return digits;
}

function latin1Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHARACTERS_MAX) {
    text += String.fromCharCode(...bytes.subarray(at, at + CHARACTERS_MAX));
  }
  return text;
}
