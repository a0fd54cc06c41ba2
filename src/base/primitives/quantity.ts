import type { Hex } from "./hex.ts";

/** QUANTITY of a non-negative integer: no leading zeros, zero is `0x0`. */
export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}
