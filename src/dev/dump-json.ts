import { type Address, parseAddress } from "../base/primitives/address.ts";
import { type Hash, hashFromBigint, parseHash } from "../base/primitives/hash.ts";
import { hexToBytes, isData } from "../base/primitives/hex.ts";
import { isJsonObject } from "../base/primitives/shape.ts";
import { DevControlError } from "./dev-settings.ts";

const KEY_CHARS = 80;
const PLACE_CHARS = 200;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const HASH = /^0x[0-9a-fA-F]{64}$/;
/** No longer than a word, so that a text of millions of digits is not read. */
const INTEGER = /^(?:0x[0-9a-fA-F]{1,64}|\d{1,78})$/;

/** A value of a dump. */
export class DumpValue {
  readonly value: unknown;
  readonly #key: string | number;
  readonly #parent: DumpValue | undefined;

  constructor(value: unknown, key: string | number = "", parent?: DumpValue) {
    this.value = value;
    this.#key = key;
    this.#parent = parent;
  }

  /** Members and indexes down to it: `blocks.0.header`. */
  get place(): string {
    const before = this.#parent?.place ?? "";
    return `${before}${before && "."}${String(this.#key).slice(0, KEY_CHARS)}`;
  }

  get isNull(): boolean {
    return this.value === undefined || this.value === null;
  }

  /** A member of the object. @throws DevControlError if this is not an object */
  at(name: string): DumpValue {
    return new DumpValue(this.members()[name], name, this);
  }

  /** This value, or `fallback` in the place of null. */
  or(fallback: unknown): DumpValue {
    return this.isNull ? new DumpValue(fallback, this.#key, this.#parent) : this;
  }

  /** @throws DevControlError */
  members(): Readonly<Record<string, unknown>> {
    return isJsonObject(this.value) ? this.value : this.malformed("an object");
  }

  /** @throws DevControlError */
  items(): readonly DumpValue[] {
    const { value } = this;
    return Array.isArray(value)
      ? value.map((item, index) => new DumpValue(item, index, this))
      : this.malformed("a list");
  }

  /** @throws DevControlError */
  malformed(wanted: string): never {
    const place = (this.place || "the value").slice(0, PLACE_CHARS);
    throw new DevControlError(`${place} of the state is not ${wanted}`, { place });
  }
}

/** Reads a value of a dump. @throws DevControlError that names its place */
type Read<T> = (from: DumpValue) => T;

export const address: Read<Address> = (from) =>
  typeof from.value === "string" && ADDRESS.test(from.value) ? parseAddress(from.value) : from.malformed("an address");

export const hash: Read<Hash> = (from) =>
  typeof from.value === "string" && HASH.test(from.value) ? parseHash(from.value) : from.malformed("a hash");

export function bytes(from: DumpValue, lengthMax = Number.POSITIVE_INFINITY): Uint8Array {
  const { value } = from;
  if (typeof value !== "string" || !isData(value)) return from.malformed("bytes in hex");
  return value.length <= 2 + 2 * lengthMax ? hexToBytes(value) : from.malformed(`at most ${lengthMax} bytes`);
}

/** An integer below `2^bits`: a number, or digits in a text. */
function integer(bits: number): Read<bigint> {
  const end = 1n << BigInt(bits);
  return (from) => {
    const { value } = from;
    const isInteger = typeof value === "string" ? INTEGER.test(value) : Number.isInteger(value);
    const read = isInteger ? BigInt(value as string | number) : -1n;
    return read >= 0n && read < end ? read : from.malformed(`an integer below 2^${bits}`);
  };
}

export const bit = integer(1);
export const byte = integer(8);
export const uint64 = integer(64);
export const word = integer(256);
const safeInteger = integer(53);
export const number: Read<number> = (from) => Number(safeInteger(from));
/** A key or value of a slot. */
export const slotWord: Read<Hash> = (from) => hashFromBigint(word(from));

export function list<T>(item: Read<T>): Read<readonly T[]> {
  return (from) => from.items().map((each) => item(each));
}

/** An object by the reader of each member. */
export function record<T extends object>(members: { readonly [Name in keyof T]: Read<T[Name]> }): Read<T> {
  const readers = Object.entries<Read<unknown>>(members);
  return (from) => Object.fromEntries(readers.map(([name, read]) => [name, read(from.at(name))])) as T;
}
