import { NodeError } from "../errors.ts";
import { type Address, addressFromBytes } from "../primitives/address.ts";
import { bytesToBigint } from "../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../primitives/hash.ts";
import type { RlpItem } from "../primitives/rlp.ts";

/** Why a piece of well-formed RLP is not the structure it should be. */
export type InvalidEncodingCode =
  | "RLP_EXPECTED_LIST"
  | "RLP_EXPECTED_STRING"
  | "RLP_TOO_FEW_ELEMENTS"
  | "RLP_TOO_MANY_ELEMENTS"
  | "RLP_LEADING_ZEROS"
  | "RLP_STRING_TOO_SHORT"
  | "RLP_STRING_TOO_LONG";

/** geth's phrase for each code: clients see them when they submit a transaction that does not decode. */
const PHRASES: Readonly<Record<InvalidEncodingCode, string>> = {
  RLP_EXPECTED_LIST: "expected input list",
  RLP_EXPECTED_STRING: "expected input string or byte",
  RLP_TOO_FEW_ELEMENTS: "too few elements",
  RLP_TOO_MANY_ELEMENTS: "input list has too many elements",
  RLP_LEADING_ZEROS: "non-canonical integer (leading zero bytes)",
  RLP_STRING_TOO_SHORT: "input string too short",
  RLP_STRING_TOO_LONG: "input string too long",
};

/** RLP that is well formed, but not an encoding of the type it was read as. */
export class InvalidEncodingError extends NodeError {
  readonly code: InvalidEncodingCode;
  /** @param where path of the item inside the outermost structure; empty for that structure itself */
  constructor(code: InvalidEncodingCode, type: string, where: string) {
    const context = where === "" ? "" : `, decoding into ${where}`;
    super(`rlp: ${PHRASES[code]} for ${type}${context}`, { type, where });
    this.code = code;
  }
}

/** Where a structure stands inside the outermost one; turned into text only when an error needs it. */
type Place = { readonly parent: StructReader; readonly segment: string };

/**
 * Reads the fields of an RLP list in order, each in its only accepted form. Types and fields are named as in geth,
 * so that errors read the same. Byte strings returned are views of the decoded input.
 */
export class StructReader {
  readonly #items: readonly RlpItem[];
  readonly #type: string;
  readonly #place: Place | undefined;
  #next = 0;

  /** @throws InvalidEncodingError unless `item` is a list */
  constructor(item: RlpItem, type: string, place?: Place) {
    this.#type = type;
    this.#place = place;
    if (item instanceof Uint8Array) throw this.#own("RLP_EXPECTED_LIST");
    this.#items = item;
  }

  /** Unsigned integer of at most `bits` bits without leading zeros. */
  uint(field: string, bits: 8 | 64 | 256): bigint {
    const bytes = this.#string(field, UINT_TYPES[bits]);
    if (bytes.length > bits / 8) throw this.fault("RLP_STRING_TOO_LONG", UINT_TYPES[bits], field);
    if (bytes[0] === 0) throw this.fault("RLP_LEADING_ZEROS", UINT_TYPES[bits], field);
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
    return this.#string(field, "[]uint8");
  }

  /** Exactly `length` bytes. */
  fixedBytes(field: string, length: number, type: string): Uint8Array {
    return this.#exact(this.#string(field, type), length, type, field);
  }

  address(field: string): Address {
    return addressFromBytes(this.fixedBytes(field, 20, "common.Address"));
  }

  /** An address, or null for the empty string. */
  optionalAddress(field: string): Address | null {
    const bytes = this.#string(field, "common.Address");
    if (bytes.length === 0) return null;
    return addressFromBytes(this.#exact(bytes, 20, "common.Address", field));
  }

  hash(field: string): Hash {
    return hashFromBytes(this.fixedBytes(field, 32, "common.Hash"));
  }

  /** A list whose every item is read by `read`; its place is named `field[index]`. */
  structs<T>(field: string, type: string, read: (reader: StructReader) => T): readonly T[] {
    return this.#list(field, `[]${type}`).map((item, index) =>
      read(new StructReader(item, type, { parent: this, segment: `.${field}[${index}]` })),
    );
  }

  /** A list of hashes. */
  hashes(field: string): readonly Hash[] {
    return this.fixedByteStrings(field, 32, "common.Hash").map(hashFromBytes);
  }

  /** A list of byte strings of exactly `length` bytes. */
  fixedByteStrings(field: string, length: number, type: string): readonly Uint8Array[] {
    return this.#list(field, `[]${type}`).map((item, index) => {
      const place = `${field}[${index}]`;
      if (!(item instanceof Uint8Array)) throw this.fault("RLP_EXPECTED_STRING", type, place);
      return this.#exact(item, length, type, place);
    });
  }

  /** True while fields are left. */
  hasMore(): boolean {
    return this.#next < this.#items.length;
  }

  /** @throws InvalidEncodingError when fields are left */
  end(): void {
    if (this.hasMore()) throw this.#own("RLP_TOO_MANY_ELEMENTS");
  }

  fault(code: InvalidEncodingCode, type: string, field: string): InvalidEncodingError {
    return new InvalidEncodingError(code, type, `${this.#path()}.${field}`);
  }

  #take(): RlpItem {
    const item = this.#items[this.#next];
    if (item === undefined) throw this.#own("RLP_TOO_FEW_ELEMENTS");
    this.#next++;
    return item;
  }

  #string(field: string, type: string): Uint8Array {
    const item = this.#take();
    if (!(item instanceof Uint8Array)) throw this.fault("RLP_EXPECTED_STRING", type, field);
    return item;
  }

  #list(field: string, type: string): readonly RlpItem[] {
    const item = this.#take();
    if (item instanceof Uint8Array) throw this.fault("RLP_EXPECTED_LIST", type, field);
    return item;
  }

  #exact(bytes: Uint8Array, length: number, type: string, field: string): Uint8Array {
    if (bytes.length === length) return bytes;
    const code = bytes.length < length ? "RLP_STRING_TOO_SHORT" : "RLP_STRING_TOO_LONG";
    throw this.fault(code, type, field);
  }

  #own(code: InvalidEncodingCode): InvalidEncodingError {
    return new InvalidEncodingError(code, this.#type, this.#place ? this.#path() : "");
  }

  #path(): string {
    if (!this.#place) return `(${this.#type})`;
    return this.#place.parent.#path() + this.#place.segment;
  }
}

const UINT_TYPES = { 8: "uint8", 64: "uint64", 256: "*big.Int" } as const;
