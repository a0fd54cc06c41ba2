import { bytesToBigint } from "../../primitives/bytes.ts";
import type { RlpItem } from "../../primitives/rlp.ts";
import { MalformedBytesError } from "../../storage/byte-io.ts";

/**
 * An integer in its one form, without leading zeros.
 * @param max at most 2^53 − 1
 * @throws MalformedBytesError
 */
export function integerOf(item: RlpItem | undefined, max: number): number {
  const isCanonical = item instanceof Uint8Array && item[0] !== 0;
  const value = isCanonical ? bytesToBigint(item) : undefined;
  if (value === undefined || value > BigInt(max)) {
    throw new MalformedBytesError(`not an integer up to ${max}`);
  }
  return Number(value);
}

/**
 * The items of a list.
 * @param count how many it has
 * @throws MalformedBytesError
 */
export function listOf(item: RlpItem | undefined, count?: number): readonly RlpItem[] {
  if (item === undefined || item instanceof Uint8Array || item.length !== (count ?? item.length)) {
    throw new MalformedBytesError(`not a list${count === undefined ? "" : ` of ${count} items`}`);
  }
  return item;
}
