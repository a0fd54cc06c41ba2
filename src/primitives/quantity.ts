import { type Hex, InvalidHexError } from "./hex.ts";

const QUANTITY_PATTERN = /^0x(?:0|[1-9a-fA-F][0-9a-fA-F]*)$/;

/** QUANTITY of a non-negative integer: no leading zeros, zero is `0x0`. */
export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/**
 * Integer of a QUANTITY string of at most `maxBits` bits.
 * @throws InvalidHexError
 */
export function parseQuantity(text: string, maxBits = 256): bigint {
  if (!QUANTITY_PATTERN.test(text)) throw new InvalidHexError(whyNotQuantity(text));
  if (text.length - 2 > maxBits / 4) throw new InvalidHexError(`hex number > ${maxBits} bits`);
  return BigInt(text);
}

/** True when `text` is a QUANTITY. */
export function isQuantity(text: string): text is Hex {
  return QUANTITY_PATTERN.test(text);
}

function whyNotQuantity(text: string): string {
  if (text === "") return "empty hex string";
  if (!text.startsWith("0x")) return "hex string without 0x prefix";
  if (text === "0x") return 'hex string "0x"';
  if (!/^0x[0-9a-fA-F]+$/.test(text)) return "invalid hex string";
  return "hex number with leading zero digits";
}
