import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { dataToBytes, hexDigits } from "../../base/primitives/hex.ts";
import { InvalidValueError } from "./errors.ts";

/** Text of JSON, or its UTF-8 bytes made once and sent many times. */
export type JsonPart = string | Uint8Array;

/** A finished JSON value, in one piece or, where it is large, in several. */
export type JsonText = JsonPart | readonly Uint8Array[];

export function jsonString(json: JsonText): string {
  if (typeof json === "string") return json;
  return (json instanceof Uint8Array ? Buffer.from(json) : Buffer.concat(json)).toString();
}

/** A JSON Schema (draft 7) of the values a codec takes or gives, for `rpc_discover` and the documentation. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Reads one JSON value of a request. */
export type ParamCodec<T> = {
  /** Absent: any value */
  readonly schema?: JsonSchema;
  /**
   * @param value as JSON.parse gave it
   * @param field `Struct.member` when the value is in an object: geth names it in its errors
   * @throws InvalidValueError with geth's words
   */
  decode(value: unknown, field?: string): T;
  /** Present when the parameter may be left out. */
  readonly absent?: { readonly value: T };
  /** A parameter that must be there, and may be null. */
  readonly takesNull?: true;
};

/** Writes one JSON value of an answer. */
export type ResultCodec<T> = {
  readonly schema?: JsonSchema;
  /** Writes only ASCII, so that the bytes of a long text need not be counted. */
  readonly isAscii?: true;
  encode(value: T): JsonText;
};

export type Codec<T> = ParamCodec<T> & ResultCodec<T>;

const ADDRESS = /^0[xX][0-9a-fA-F]{40}$/;
const HASH = /^0[xX][0-9a-fA-F]{64}$/;
const DATA = /^0[xX](?:[0-9a-fA-F]{2})*$/;
const QUANTITY = /^0[xX](?:0|[1-9a-fA-F][0-9a-fA-F]*)$/;

/** DATA of 20 bytes in any letter case: EIP-55 checksums are not verified, as in geth. */
export const address: Codec<Address> = {
  schema: { title: "address", type: "string", pattern: "^0x[0-9a-fA-F]{40}$" },
  decode(value, field) {
    if (typeof value === "string" && ADDRESS.test(value)) return value.toLowerCase() as Address;
    throw fixedDataFault(value, 40, "common.Address", field);
  },
  isAscii: true,
  encode: quoted,
};

/** DATA of 32 bytes. */
export const hash: Codec<Hash> = {
  schema: { title: "hash", type: "string", pattern: "^0x[0-9a-fA-F]{64}$" },
  decode(value, field) {
    if (typeof value === "string" && HASH.test(value)) return value.toLowerCase() as Hash;
    throw fixedDataFault(value, 64, "common.Hash", field);
  },
  isAscii: true,
  encode: quoted,
};

/** DATA of any length; the empty string decodes to no bytes, as in geth. The array belongs to the receiver. */
export const data: Codec<Uint8Array> = {
  schema: { title: "DATA", type: "string", pattern: "^0x([0-9a-fA-F]{2})*$" },
  decode(value, field) {
    if (typeof value === "string") {
      const bytes = dataToBytes(value);
      if (bytes !== undefined) return bytes;
      if (value === "" || DATA.test(value)) return hexToOwnBytes(value);
    }
    throw typeFault(typeof value === "string" ? dataFault(value) : "non-string", "hexutil.Bytes", field);
  },
  isAscii: true,
  encode: (bytes) => `"0x${hexDigits(bytes)}"`,
};

/** DATA of exactly `length` bytes, which geth calls `goType`. */
export function fixedData(length: number, goType: string): ParamCodec<Uint8Array> {
  const digits = 2 * length;
  return {
    schema: { title: "DATA", type: "string", pattern: `^0x[0-9a-fA-F]{${digits}}$` },
    decode(value, field) {
      if (typeof value === "string" && value.length === digits + 2 && DATA.test(value)) {
        return hexToOwnBytes(value);
      }
      throw fixedDataFault(value, digits, goType, field);
    },
  };
}

const QUANTITY_SCHEMA = {
  title: "QUANTITY",
  type: "string",
  pattern: "^0x(0|[1-9a-fA-F][0-9a-fA-F]*)$",
};

/** QUANTITY of up to 256 bits; the empty string is 0, as in geth. */
export const quantity: Codec<bigint> = {
  schema: QUANTITY_SCHEMA,
  decode: (value, field) => decodeQuantity(value, 256, "*hexutil.Big", field),
  isAscii: true,
  encode: (value) => `"0x${value.toString(16)}"`,
};

/** QUANTITY of up to 64 bits: gas and nonces. */
export const quantity64: Codec<bigint> = {
  schema: QUANTITY_SCHEMA,
  decode: (value, field) => decodeQuantity(value, 64, "hexutil.Uint64", field),
  isAscii: true,
  encode: quantity.encode,
};

/** As `quantity`, where geth's type is the word of its EVM: fields of authorizations. */
export const quantity256: ParamCodec<bigint> = {
  schema: QUANTITY_SCHEMA,
  decode: (value, field) => decodeQuantity(value, 256, "*uint256.Int", field),
};

/** QUANTITY as a number: indexes and counts. Anything above 2^53 − 1 is read as 2^53 − 1, which no list reaches. */
export const quantityNumber: Codec<number> = {
  schema: QUANTITY_SCHEMA,
  decode(value, field) {
    const wide = decodeQuantity(value, 64, "hexutil.Uint", field);
    return wide > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(wide);
  },
  isAscii: true,
  encode: (value) => `"0x${value.toString(16)}"`,
};

/** A JSON boolean; null is false, as Go decodes it. */
export const boolean: Codec<boolean> = {
  schema: { type: "boolean" },
  decode(value, field) {
    if (typeof value === "boolean") return value;
    if (value === null) return false;
    throw typeFault(jsonKind(value), "bool", field);
  },
  isAscii: true,
  encode: (value) => (value ? "true" : "false"),
};

/** A JSON string. */
export const string: Codec<string> = {
  schema: { type: "string" },
  decode(value, field) {
    if (typeof value === "string") return value;
    if (value === null) return "";
    throw typeFault(jsonKind(value), "string", field);
  },
  encode: (value) => JSON.stringify(value),
};

/** A JSON integer, for the few values that are not QUANTITY. */
export const jsonInteger: Codec<number> = integerOf("int", Number.MIN_SAFE_INTEGER);

/** As `jsonInteger`, from 0. */
export const jsonUnsigned: Codec<number> = integerOf("uint64", 0);

function integerOf(goType: string, minimum: number): Codec<number> {
  return {
    schema: { type: "integer", ...(minimum === 0 && { minimum }) },
    decode(value, field) {
      if (typeof value === "number" && Number.isSafeInteger(value) && value >= minimum) return value;
      // Go leaves an integer at 0 where JSON has null.
      if (value === null) return 0;
      const kind = typeof value === "number" ? `number ${value}` : jsonKind(value);
      throw typeFault(kind, goType, field);
    },
    encode: String,
  };
}

/** Any JSON value, looked at by the handler. */
export const json: Codec<unknown> = {
  decode: (value) => value,
  encode: (value) => JSON.stringify(value),
};

/** The result of a method that returns nothing: null. */
export const nothing: ResultCodec<void> = { encode: () => "null" };

/** A result whose JSON the handler has written already. */
export const rawJson: ResultCodec<JsonText> = { encode: (text) => text };

/** Like `rawJson`, for ASCII only. */
export const rawAsciiJson: ResultCodec<JsonText> = { isAscii: true, ...rawJson };

/** As `rawJson`, of a known schema. */
export function rawJsonOf(schema: JsonSchema): ResultCodec<JsonText> {
  return { ...rawJson, schema };
}

/** As `rawAsciiJson`, of a known schema. */
export function rawAsciiJsonOf(schema: JsonSchema): ResultCodec<JsonText> {
  return { ...rawAsciiJson, schema };
}

/** `value` or JSON null. */
export function nullable<T>(codec: ResultCodec<T>): ResultCodec<T | null> {
  return {
    schema: { oneOf: [codec.schema ?? {}, { type: "null" }] },
    ...(codec.isAscii && { isAscii: true }),
    encode: (value) => (value === null ? "null" : codec.encode(value)),
  };
}

/** A parameter that may be left out or null; it is `fallback` then. */
export function optional<T>(codec: ParamCodec<T>, fallback: T): ParamCodec<T>;
export function optional<T>(codec: ParamCodec<T>): ParamCodec<T | undefined>;
export function optional<T>(codec: ParamCodec<T>, fallback?: T): ParamCodec<T | undefined> {
  return {
    ...schemaOf(codec),
    decode: (value, field) => (value === null ? fallback : codec.decode(value, field)),
    absent: { value: fallback },
  };
}

/** A list; null is the empty list, as Go decodes it. */
export function array<T>(item: Codec<T>, goType?: string): Codec<readonly T[]>;
export function array<T>(item: ParamCodec<T>, goType?: string): ParamCodec<readonly T[]>;
export function array<T>(
  item: ParamCodec<T> & Partial<ResultCodec<T>>,
  goType = "[]interface {}",
): ParamCodec<readonly T[]> & Partial<ResultCodec<readonly T[]>> {
  return {
    schema: { type: "array", items: item.schema ?? {} },
    decode(value, field) {
      if (value === null) return [];
      if (!Array.isArray(value)) throw typeFault(jsonKind(value), goType, field);
      return value.map((entry) => item.decode(entry, field));
    },
    encode: (values) => `[${values.map((value) => item.encode!(value)).join(",")}]`,
  };
}

type Members = Readonly<Record<string, ParamCodec<unknown>>>;

/** The members that were given and not null. */
export type ObjectOf<M extends Members> = {
  readonly [K in keyof M]?: M[K] extends ParamCodec<infer T> ? T : never;
};

/**
 * An object whose members are all optional. Names match in any letter case, unknown members are ignored, and null counts as absent;
 * null instead of the object counts as an object without members.
 *
 * @param name of the structure, as geth's errors show it
 * @param goType the type that geth's errors show for the whole object
 * @param form how geth names members: "fields" by their Go names, which begin with a capital letter; "own" and "ownFields" when the object
 *   decodes itself, so that the structure around it is the one that errors show
 */
export function object<const M extends Members>(
  name: string,
  members: M,
  goType = `ethapi.${name}`,
  form: "tags" | "fields" | "own" | "ownFields" = "tags",
): ParamCodec<ObjectOf<M>> {
  const hasFields = form === "fields" || form === "ownFields";
  const decodesItself = form === "own" || form === "ownFields";
  const known = Object.entries(members).map(([key, codec]) => ({
    key,
    codec,
    goName: hasFields ? key.charAt(0).toUpperCase() + key.slice(1) : key,
  }));
  const byName = new Map(known.map((member) => [member.key, member]));
  const byLowerName = new Map(known.map((member) => [member.key.toLowerCase(), member]));
  const properties = Object.entries(members).map(([key, { schema = {} }]) => [key, schema]);
  return {
    schema: { title: name, type: "object", properties: Object.fromEntries(properties) },
    decode(value, field) {
      if (value === null) return {};
      if (typeof value !== "object" || Array.isArray(value)) {
        throw typeFault(jsonKind(value), goType, field);
      }
      const pathOf = memberPath(name, decodesItself, field);
      const decoded: Record<string, unknown> = {};
      for (const given of Object.keys(value)) {
        const member = (value as Record<string, unknown>)[given];
        if (member === null || member === undefined) continue;
        const found = byName.get(given) ?? byLowerName.get(given.toLowerCase());
        if (found) decoded[found.key] = found.codec.decode(member, `${pathOf}.${found.goName}`);
      }
      return decoded as ObjectOf<M>;
    },
  };
}

/** `Struct.path` of an object's members: the structure is the innermost one, the path begins in the outermost. */
function memberPath(name: string, decodesItself: boolean, field: string | undefined): string {
  if (field === undefined || decodesItself) return field ?? name;
  const dot = field.indexOf(".");
  return dot === -1 ? name : `${name}${field.slice(dot)}`;
}

/** The schema of `codec` as a member, for codecs made of others. */
export function schemaOf({ schema }: { readonly schema?: JsonSchema }): {
  readonly schema?: JsonSchema;
} {
  return schema ? { schema } : {};
}

/** geth's error for a value of the wrong JSON type or spelling. */
export function typeFault(reason: string, goType: string, field?: string): InvalidValueError {
  const into = field === undefined ? "value" : `struct field ${field}`;
  return new InvalidValueError(`json: cannot unmarshal ${reason} into Go ${into} of type ${goType}`);
}

/** Go's word for the JSON type of `value`. */
export function jsonKind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** Why `text` is not DATA. Lengths count UTF-8 bytes, as in Go. */
export function dataFault(text: string): string {
  if (text === "") return "empty hex string";
  if (!/^0[xX]/.test(text)) return "hex string without 0x prefix";
  if (Buffer.byteLength(text) % 2 !== 0) return "hex string of odd length";
  return "invalid hex string";
}

/** Why `text` is not a QUANTITY of at most `bits` bits; undefined when it is one. */
export function quantityFault(text: string, bits: number): string | undefined {
  if (text === "") return "empty hex string";
  if (!/^0[xX]/.test(text)) return "hex string without 0x prefix";
  if (text.length === 2) return 'hex string "0x"';
  if (text.length > 3 && text[2] === "0") return "hex number with leading zero digits";
  if (text.length - 2 > bits / 4) return `hex number > ${bits} bits`;
  if (!QUANTITY.test(text)) {
    // Go's length of a text is that of its UTF-8.
    return Buffer.byteLength(text) - 2 > bits / 4 ? `hex number > ${bits} bits` : "invalid hex string";
  }
  return undefined;
}

/** Bytes of DATA already known to be well formed, also after `0X`, or of the empty string. */
export function hexToOwnBytes(text: string): Uint8Array {
  return dataToBytes(`0x${text.slice(2)}`)!;
}

function decodeQuantity(value: unknown, bits: number, goType: string, field: string | undefined): bigint {
  if (typeof value !== "string") throw typeFault("non-string", goType, field);
  if (value === "") return 0n;
  const fault = quantityFault(value, bits);
  if (fault !== undefined) throw typeFault(fault, goType, field);
  return BigInt(value);
}

function fixedDataFault(value: unknown, digits: number, goType: string, field: string | undefined): InvalidValueError {
  if (typeof value !== "string") return typeFault("non-string", goType, field);
  const length = Math.max(0, Buffer.byteLength(value) - 2);
  const fault = value === "" ? undefined : dataFault(value);
  if (fault !== undefined && (fault !== "invalid hex string" || length === digits)) {
    return typeFault(fault, goType, field);
  }
  return new InvalidValueError(`hex string has length ${length}, want ${digits} for ${goType}`);
}

function quoted(text: string): string {
  return `"${text}"`;
}

const HEX = /^0[xX][0-9a-fA-F]{1,16}$/;

/**
 * A whole number from 0, as JSON number or as hex with or without leading zeros: clients of the historic namespaces disagree on which,
 * because servers did.
 */
export const lenientInteger: ParamCodec<number> = {
  schema: { type: ["integer", "string"] },
  decode(value, field) {
    const number = typeof value === "string" && HEX.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= 0) return number;
    const reason = typeof value === "number" ? `number ${value}` : jsonKind(value);
    throw typeFault(reason, "uint64", field);
  },
};
