import { type Address, parseAddress } from "../../primitives/address.ts";
import { type Hash, parseHash } from "../../primitives/hash.ts";
import { hexToBytes, InvalidHexError } from "../../primitives/hex.ts";

/** An object as a node has answered it: nothing about it is known. */
export type Json = Readonly<Record<string, unknown>>;

/** @throws InvalidHexError */
export function textOf(value: unknown): string {
  if (typeof value !== "string") throw new InvalidHexError("hex string expected");
  return value;
}

/** @throws InvalidHexError unless `value` is a QUANTITY of 256 bits at most: of longer ones the digits cost more than linear time */
export function bigintOf(value: unknown): bigint {
  const text = textOf(value);
  if (!/^0x[0-9a-f]{1,64}$/i.test(text)) throw new InvalidHexError("quantity expected");
  return BigInt(text);
}

/** @throws InvalidHexError unless `value` is a QUANTITY below 2^53 */
export function numberOf(value: unknown): number {
  const number = Number(bigintOf(value));
  if (!Number.isSafeInteger(number)) throw new InvalidHexError("quantity below 2^53 expected");
  return number;
}

const INT64_MAX = (1n << 63n) - 1n;

/** @throws InvalidHexError unless `value` is a QUANTITY below 2^63: a larger one would be encoded as another number */
export function int64Of(value: unknown): bigint {
  const number = bigintOf(value);
  if (number > INT64_MAX) throw new InvalidHexError("quantity below 2^63 expected");
  return number;
}

/** @throws InvalidHexError */
export function bytesOf(value: unknown): Uint8Array {
  return hexToBytes(textOf(value));
}

/** @throws InvalidHexError */
export function hashOf(value: unknown): Hash {
  return parseHash(textOf(value));
}

/** @throws InvalidHexError */
export function addressOf(value: unknown): Address {
  return parseAddress(textOf(value));
}

/** @throws InvalidHexError */
export function objectOf(value: unknown): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InvalidHexError("object expected");
  }
  return value as Json;
}

/** @throws InvalidHexError */
export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new InvalidHexError("list expected");
  return value;
}
