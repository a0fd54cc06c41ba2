import { hexDigits } from "../../../base/primitives/hex.ts";
import type { JsonText } from "../../transport/codec.ts";

/** JSON text of a QUANTITY. */
export function quantityText(value: bigint | number): string {
  return `"0x${value.toString(16)}"`;
}

/** JSON text of DATA. */
export function dataText(bytes: Uint8Array): string {
  return `"0x${hexDigits(bytes)}"`;
}

/** JSON text of a hash, address or tag: letters that need no escaping. */
export function plainText(text: string | null): string {
  return text === null ? "null" : `"${text}"`;
}

/** JSON text of a list of such. */
export function plainListText(texts: readonly string[]): string {
  return texts.length === 0 ? "[]" : `["${texts.join('","')}"]`;
}

/** Shorter pieces are copied together: each piece of an answer is a separate buffer in a write. */
const PIECE_BYTES_MIN = 64 << 10;

/** JSON of texts and pieces that follow one another: one string where all are strings, otherwise pieces. */
export function joinedJson(...parts: readonly JsonText[]): JsonText {
  if (parts.every((part) => typeof part === "string")) return parts.join("");
  const pieces: Uint8Array[] = [];
  let short: Uint8Array[] = [];
  let shortBytes = 0;
  const flush = () => {
    if (shortBytes > 0) pieces.push(Buffer.concat(short, shortBytes));
    short = [];
    shortBytes = 0;
  };
  const add = (piece: Uint8Array) => {
    if (piece.length >= PIECE_BYTES_MIN) {
      flush();
      pieces.push(piece);
      return;
    }
    short.push(piece);
    shortBytes += piece.length;
    if (shortBytes >= PIECE_BYTES_MIN) flush();
  };
  for (const part of parts) {
    if (typeof part === "string") add(Buffer.from(part));
    else if (part instanceof Uint8Array) add(part);
    else part.forEach(add);
  }
  flush();
  return pieces;
}
