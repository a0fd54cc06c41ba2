import { hexDigits } from "../../primitives/hex.ts";

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
