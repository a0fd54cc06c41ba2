import type { ErrorCode } from "../error-codes.ts";
import { NodeError } from "../errors.ts";
import { type Address, addressFromBytes } from "../primitives/address.ts";
import { bytesToBigint } from "../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../primitives/hash.ts";
import {
  hasShorterForm,
  InvalidRlpError,
  NonCanonicalSizeError,
  type RlpPrefix,
  rlpPrefix,
} from "../primitives/rlp.ts";

/** Why well-formed RLP is not the expected structure. */
export type InvalidEncodingCode = Extract<ErrorCode, `RLP_${string}`>;

/** geth's phrase for each code: clients see it when they submit a transaction that does not decode. */
const PHRASES: Readonly<Record<InvalidEncodingCode, string>> = {
  RLP_EXPECTED_LIST: "expected input list",
  RLP_EXPECTED_STRING: "expected input string or byte",
  RLP_TOO_FEW_ELEMENTS: "too few elements",
  RLP_TOO_MANY_ELEMENTS: "input list has too many elements",
  RLP_LEADING_ZEROS: "non-canonical integer (leading zero bytes)",
  RLP_NON_CANONICAL_SIZE: "non-canonical size information",
  RLP_STRING_TOO_SHORT: "input string too short",
  RLP_STRING_TOO_LONG: "input string too long",
  RLP_EMPTY_LIST: "wrong kind of empty value (got List, want String)",
};

/** Well-formed RLP that does not encode the expected type. */
export class InvalidEncodingError extends NodeError {
  readonly code: InvalidEncodingCode;
  /** @param where path of the item inside the outermost structure; empty for that structure itself */
  constructor(code: InvalidEncodingCode, type: string, where: string) {
    const context = where === "" ? "" : `, decoding into ${where}`;
    super(`rlp: ${PHRASES[code]} for ${type}${context}`, { type, where });
    this.code = code;
  }
}

/** The field that contains a structure; converted to text only for errors. */
export type Field = { readonly parent: StructReader; readonly segment: string };

/**
 * Decodes a structure's RLP with `read`, which must read all fields.
 * @param field the field that `bytes` come from, if they are part of another structure
 * @throws InvalidRlpError, InvalidEncodingError
 */
export function decodeStruct<T>(bytes: Uint8Array, type: string, read: (reader: StructReader) => T, field?: Field): T {
  const { isList, start, length } = topPrefix(bytes, type);
  if (!isList) throw new InvalidEncodingError("RLP_EXPECTED_LIST", type, "");
  const end = start + length;
  const value = readAll(new StructReader(bytes.subarray(start, end), type, field), read);
  if (end !== bytes.length) throw new InvalidRlpError("rlp: input contains more than one value");
  return value;
}

function topPrefix(bytes: Uint8Array, type: string): RlpPrefix {
  try {
    return rlpPrefix(bytes, 0, bytes.length, 0, true);
  } catch (error) {
    if (!(error instanceof NonCanonicalSizeError)) throw error;
    throw new InvalidEncodingError("RLP_NON_CANONICAL_SIZE", type, "");
  }
}

function readAll<T>(reader: StructReader, read: (reader: StructReader) => T): T {
  const value = read(reader);
  reader.end();
  return value;
}

/**
 * Reads the fields of an RLP list in order, each in its only accepted form. Reads no further than the requested field, so it reports the first
 * fault in wire order. Types and fields have geth's names, so that errors read the same. Returned byte strings are views of the input.
 */
export class StructReader {
  readonly #payload: Uint8Array;
  readonly #type: string;
  readonly #field: Field | undefined;
  #next = 0;
  /** Go's integers have any size, so faults after an oversized field are reported before it. */
  #oversized: InvalidEncodingError | undefined;

  /** @param payload the list's items, without its prefix */
  constructor(payload: Uint8Array, type: string, field?: Field) {
    this.#payload = payload;
    this.#type = type;
    this.#field = field;
  }

  /** Unsigned integer of at most `bits` bits without leading zeros. */
  uint(field: string, bits: 8 | 64 | 256, type: string = UINT_TYPES[bits]): bigint {
    const { offset, prefix } = this.#takeString(field, type);
    if (prefix.length > bits / 8) {
      if (type === "*uint256.Int") throw new InvalidRlpError("rlp: value too large for uint256");
      if (bits !== 256) throw this.fault("RLP_STRING_TOO_LONG", type, field);
      this.#oversized ??= this.fault("RLP_STRING_TOO_LONG", type, field);
    }
    this.#expectShortest(offset, prefix, type, field);
    const bytes = this.#bytesOf(prefix);
    if (bytes[0] === 0) throw this.fault("RLP_LEADING_ZEROS", type, field);
    return bytesToBigint(bytes);
  }

  /** Unsigned integer below 2^53. */
  safeUint(field: string): number {
    const value = this.uint(field, 64);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw this.fault("RLP_STRING_TOO_LONG", "uint53", field);
    }
    return Number(value);
  }

  bytes(field: string): Uint8Array {
    const { offset, prefix } = this.#takeString(field, "[]uint8");
    this.#expectShortest(offset, prefix, "[]uint8", field);
    return this.#bytesOf(prefix);
  }

  /** The undecoded item. */
  item(field: string): Uint8Array {
    const { offset } = this.#take(field, this.#type);
    return this.#payload.subarray(offset, this.#next);
  }

  fixedBytes(field: string, length: number, type: string): Uint8Array {
    return this.#exact(this.#takePrefix(), length, type, field);
  }

  address(field: string): Address {
    return addressFromBytes(this.fixedBytes(field, 20, "common.Address"));
  }

  /** An address, or null for the empty string. */
  optionalAddress(field: string): Address | null {
    const { prefix } = this.#take(field, "*common.Address");
    if (prefix.length > 0) return addressFromBytes(this.#exact(prefix, 20, "common.Address", field));
    if (prefix.isList) throw this.fault("RLP_EMPTY_LIST", "*common.Address", field);
    return null;
  }

  hash(field: string): Hash {
    return hashFromBytes(this.fixedBytes(field, 32, "common.Hash"));
  }

  /** A list whose items `read` reads; errors name the item `field[index]`. */
  structs<T>(field: string, type: string, read: (reader: StructReader) => T, listType = `[]${type}`): readonly T[] {
    return this.#items(field, listType, (items, name) => {
      const payload = items.#list(name, type);
      return readAll(new StructReader(payload, type, { parent: items, segment: name }), read);
    });
  }

  hashes(field: string): readonly Hash[] {
    return this.fixedByteStrings(field, 32, "common.Hash").map(hashFromBytes);
  }

  /** A list of byte strings of exactly `length` bytes. */
  fixedByteStrings(field: string, length: number, type: string): readonly Uint8Array[] {
    return this.#items(field, `[]${type}`, (items, name) => items.fixedBytes(name, length, type));
  }

  /** True while fields remain. */
  hasMore(): boolean {
    return this.#next < this.#payload.length;
  }

  nextIsList(): boolean {
    return this.hasMore() && this.#payload[this.#next]! >= 0xc0;
  }

  /** @throws InvalidEncodingError if fields remain */
  end(): void {
    if (this.hasMore()) throw this.#own("RLP_TOO_MANY_ELEMENTS");
    if (this.#oversized) throw this.#oversized;
  }

  fault(code: InvalidEncodingCode, type: string, field: string): InvalidEncodingError {
    return new InvalidEncodingError(code, type, this.#path() + segmentOf(field));
  }

  /** The items of the list in the next field, each read under the name `[index]`. */
  #items<T>(field: string, type: string, read: (items: StructReader, name: string) => T): readonly T[] {
    const parent = { parent: this, segment: field };
    const items = new StructReader(this.#list(field, type), type, parent);
    const values: T[] = [];
    while (items.hasMore()) values.push(read(items, `[${values.length}]`));
    return values;
  }

  #list(field: string, type: string): Uint8Array {
    const { prefix } = this.#take(field, type);
    if (!prefix.isList) throw this.fault("RLP_EXPECTED_LIST", type, field);
    return this.#bytesOf(prefix);
  }

  #takeString(field: string, type: string): { offset: number; prefix: RlpPrefix } {
    const taken = this.#take(field, type);
    if (taken.prefix.isList) throw this.fault("RLP_EXPECTED_STRING", type, field);
    return taken;
  }

  /** @throws InvalidEncodingError with the field's name for a size with more bytes than needed */
  #take(field: string, type: string): { offset: number; prefix: RlpPrefix } {
    const offset = this.#next;
    try {
      return { offset, prefix: this.#takePrefix() };
    } catch (error) {
      if (!(error instanceof NonCanonicalSizeError)) throw error;
      throw this.fault("RLP_NON_CANONICAL_SIZE", type, field);
    }
  }

  #takePrefix(): RlpPrefix {
    if (!this.hasMore()) throw this.#own("RLP_TOO_FEW_ELEMENTS");
    const prefix = rlpPrefix(this.#payload, this.#next, this.#payload.length, 1, true);
    this.#next = prefix.start + prefix.length;
    return prefix;
  }

  #expectShortest(offset: number, prefix: RlpPrefix, type: string, field: string): void {
    if (hasShorterForm(this.#payload, offset, prefix)) {
      throw this.fault("RLP_NON_CANONICAL_SIZE", type, field);
    }
  }

  #exact(prefix: RlpPrefix, length: number, type: string, field: string): Uint8Array {
    if (prefix.isList) throw this.fault("RLP_EXPECTED_STRING", type, field);
    if (prefix.length === length) return this.#bytesOf(prefix);
    const code = prefix.length < length ? "RLP_STRING_TOO_SHORT" : "RLP_STRING_TOO_LONG";
    throw this.fault(code, type, field);
  }

  #bytesOf({ start, length }: RlpPrefix): Uint8Array {
    return this.#payload.subarray(start, start + length);
  }

  #own(code: InvalidEncodingCode): InvalidEncodingError {
    return new InvalidEncodingError(code, this.#type, this.#field ? this.#path() : "");
  }

  #path(): string {
    if (!this.#field) return `(${this.#type})`;
    return this.#field.parent.#path() + segmentOf(this.#field.segment);
  }
}

/** `.Name` of a field, `[0]` of an item. */
function segmentOf(name: string): string {
  return name.startsWith("[") ? name : `.${name}`;
}

const UINT_TYPES = { 8: "uint8", 64: "uint64", 256: "*big.Int" } as const;
