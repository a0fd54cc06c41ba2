import { type Address, parseAddress } from "../base/primitives/address.ts";
import { type Hash, hashFromBigint, parseHash } from "../base/primitives/hash.ts";
import { hexToBytes, isData } from "../base/primitives/hex.ts";
import { isJsonObject } from "../base/primitives/shape.ts";
import { DevControlError } from "./dev-settings.ts";

/** Members of an object with unchecked values. */
export type Members = Readonly<Record<string, unknown>>;

const PLACE_CHARS = 200;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const HASH = /^0x[0-9a-fA-F]{64}$/;
/** No longer than a word, so that a text of millions of digits is not read. */
const INTEGER = /^(?:0x[0-9a-fA-F]{1,64}|\d{1,78})$/;
export const WORD_END = 2n ** 256n;
const UINT64_END = 2n ** 64n;

/** @throws DevControlError */
export function malformed(place: string, wanted: string): never {
  const shown = place.slice(0, PLACE_CHARS);
  throw new DevControlError(`${shown} of the state is not ${wanted}`, { place: shown });
}

/** Each reads a value of a dump, and throws a DevControlError that names its place. */
export function membersAt(value: unknown, place: string): Members {
  return isJsonObject(value) ? value : malformed(place, "an object");
}

export function listAt(value: unknown, place: string): readonly unknown[] {
  return Array.isArray(value) ? value : malformed(place, "a list");
}

export function addressAt(value: unknown, place: string): Address {
  return typeof value === "string" && ADDRESS.test(value) ? parseAddress(value) : malformed(place, "an address");
}

export function hashAt(value: unknown, place: string): Hash {
  return typeof value === "string" && HASH.test(value) ? parseHash(value) : malformed(place, "a hash");
}

/** A key or value of a slot. */
export function wordAt(value: unknown, place: string): Hash {
  return hashFromBigint(below(WORD_END, value, place));
}

export function bytesAt(value: unknown, place: string, lengthMax = Number.POSITIVE_INFINITY): Uint8Array {
  if (typeof value !== "string" || !isData(value)) return malformed(place, "bytes in hex");
  return value.length <= 2 + 2 * lengthMax ? hexToBytes(value) : malformed(place, `at most ${lengthMax} bytes`);
}

/** An integer below `end`: a number, or digits in a text. */
export function below(end: bigint, value: unknown, place: string): bigint {
  const isInteger = typeof value === "string" ? INTEGER.test(value) : Number.isInteger(value);
  const integer = isInteger ? BigInt(value as string | number) : -1n;
  return integer >= 0n && integer < end
    ? integer
    : malformed(place, `an integer below 2^${end.toString(2).length - 1}`);
}

export function uint64At(value: unknown, place: string): bigint {
  return below(UINT64_END, value, place);
}

export function numberAt(value: unknown, place: string): number {
  return Number(below(BigInt(Number.MAX_SAFE_INTEGER) + 1n, value, place));
}
