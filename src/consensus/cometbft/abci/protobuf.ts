import { NodeError } from "../../../base/errors.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";

/** Bytes that do not decode as a message of the expected type. */
export class MalformedProtobufError extends NodeError {
  readonly code = "ABCI_MALFORMED_PROTOBUF";
}

/** Scalars of proto3 in ABCI and signed votes, with their TypeScript types. 64-bit integers are bigints. */
type Scalars = {
  readonly bytes: Uint8Array;
  readonly string: string;
  readonly bool: boolean;
  readonly int32: number;
  readonly uint32: number;
  readonly int64: bigint;
  readonly uint64: bigint;
  readonly sfixed64: bigint;
};

type FieldType = keyof Scalars | MessageType<Fields>;

type Field = {
  readonly number: number;
  readonly type: FieldType;
  /** `optional` fields are undefined if absent; all others have the zero value of their type. */
  readonly label: "single" | "repeated" | "optional";
};

export type Fields = Readonly<Record<string, Field>>;

/** A message as data: its fields by name, for `encodeMessage` and `decodeMessage`. */
export type MessageType<F extends Fields> = {
  readonly fields: F;
  /** In the order of the table. */
  readonly entries: readonly Entry[];
  readonly byNumber: ReadonlyMap<number, Entry>;
};

/** A field with the constant parts of its wire form. */
type Entry = Field & { readonly name: string; readonly wireType: number; readonly tag: Uint8Array };

type ValueOf<T extends FieldType> = T extends keyof Scalars
  ? Scalars[T]
  : T extends MessageType<infer F>
    ? MessageFields<F>
    : never;

type MessageFields<F extends Fields> = {
  readonly [K in keyof F]: F[K]["label"] extends "repeated"
    ? readonly ValueOf<F[K]["type"]>[]
    : F[K]["label"] extends "optional"
      ? ValueOf<F[K]["type"]> | undefined
      : ValueOf<F[K]["type"]>;
};

/** The value that a message type describes. */
export type MessageOf<M> = M extends MessageType<infer F> ? MessageFields<F> : never;

export function message<const F extends Fields>(fields: F): MessageType<F> {
  const entries = Object.entries(fields).map(([name, { number, type, label }]): Entry => {
    const wireType = wireTypeOf(type);
    const isPacked = label === "repeated" && wireType === VARINT;
    return { name, number, type, label, wireType, tag: tagOf(number, isPacked ? LENGTH_DELIMITED : wireType) };
  });
  return { fields, entries, byNumber: new Map(entries.map((entry) => [entry.number, entry])) };
}

export function single<const T extends FieldType>(number: number, type: T) {
  return { number, type, label: "single" } as const;
}

export function optional<const T extends FieldType>(number: number, type: T) {
  return { number, type, label: "optional" } as const;
}

export function repeated<const T extends FieldType>(number: number, type: T) {
  return { number, type, label: "repeated" } as const;
}

const VARINT = 0;
const FIXED64 = 1;
export const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** Bytes of a varint below 2^35. */
const LENGTH_BYTES_MAX = 5;

const UINT64_MASK = (1n << 64n) - 1n;
/** Largest exact number. */
const MAX_EXACT = BigInt(Number.MAX_SAFE_INTEGER);

/** The wire form of `value` (proto3: omits zero fields, in the order of the table). */
export function encodeMessage<F extends Fields>(type: MessageType<F>, value: Partial<MessageFields<F>>): Uint8Array {
  const out: Uint8Array[] = [];
  for (const entry of type.entries) {
    const fieldValue = (value as Readonly<Record<string, unknown>>)[entry.name];
    if (fieldValue === undefined) continue;
    if (entry.label !== "repeated") {
      writeField(out, entry, fieldValue, entry.label === "optional");
      continue;
    }
    const items = fieldValue as readonly unknown[];
    if (entry.wireType === VARINT) writePacked(out, entry, items);
    else for (const item of items) writeField(out, entry, item, true);
  }
  return Buffer.concat(out);
}

/**
 * Decodes `bytes`; byte fields are views of it. Skips unknown fields; the last value of a repeated single field counts.
 * @throws MalformedProtobufError
 */
export function decodeMessage<F extends Fields>(type: MessageType<F>, bytes: Uint8Array): MessageFields<F> {
  const result: Record<string, unknown> = {};
  let hasMessages = false;
  for (const { name, label, type: of } of type.entries) {
    const isMessage = typeof of !== "string";
    if (label === "repeated") result[name] = [];
    else result[name] = label === "optional" || isMessage ? undefined : zeroOf(of);
    hasMessages ||= isMessage;
  }
  const reader = new WireReader(bytes);
  while (!reader.isAtEnd) {
    const tag = reader.uint32();
    const wireType = tag & 7;
    const known = type.byNumber.get(tag >>> 3);
    if (known === undefined) {
      reader.skip(wireType);
      continue;
    }
    const { name } = known;
    if (known.label !== "repeated") {
      result[name] = readValue(reader, known, wireType);
    } else if (wireType === LENGTH_DELIMITED && known.wireType === VARINT) {
      const packed = new WireReader(reader.lengthDelimited());
      while (!packed.isAtEnd) {
        (result[name] as unknown[]).push(readValue(packed, known, VARINT));
      }
    } else {
      (result[name] as unknown[]).push(readValue(reader, known, wireType));
    }
  }
  if (hasMessages) {
    for (const { name, label, type: of } of type.entries) {
      if (label === "single" && result[name] === undefined) result[name] = zeroOf(of);
    }
  }
  return result as MessageFields<F>;
}

/** An unsigned LEB128 varint, as before each message on the socket and inside messages. */
export function encodeVarint(value: bigint | number): Uint8Array {
  if (value >= 0 && value < 0x80) return Uint8Array.of(Number(value));
  const bytes: number[] = [];
  let big = BigInt(value) & UINT64_MASK;
  for (; big > MAX_EXACT; big >>= 7n) bytes.push(Number(big & 0x7fn) | 0x80);
  // Numbers are several times faster than bigints.
  let rest = Number(big);
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/**
 * The varint at `start` as a length; it may still be incomplete.
 * @returns undefined if it is incomplete
 * @throws MalformedProtobufError from 2^35 on
 */
export function lengthAt(
  bytes: Uint8Array,
  start: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let i = 0; i < LENGTH_BYTES_MAX; i++) {
    const byte = bytes[start + i];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return { value, end: start + i + 1 };
  }
  throw new MalformedProtobufError("length of a frame is too large");
}

function wireTypeOf(type: FieldType): number {
  if (type === "sfixed64") return FIXED64;
  return typeof type !== "string" || type === "bytes" || type === "string" ? LENGTH_DELIMITED : VARINT;
}

function zeroOf(type: FieldType): unknown {
  if (typeof type !== "string") return decodeMessage(type, EMPTY_BYTES);
  switch (type) {
    case "bytes":
      return EMPTY_BYTES;
    case "string":
      return "";
    case "bool":
      return false;
    case "int32":
    case "uint32":
      return 0;
    default:
      return 0n;
  }
}

function writeField(out: Uint8Array[], entry: Entry, value: unknown, evenIfZero: boolean): void {
  const { type, tag, wireType } = entry;
  if (wireType !== LENGTH_DELIMITED) {
    const encoded = scalarVarint(type as keyof Scalars, value);
    if (encoded === 0n && !evenIfZero) return;
    out.push(tag, wireType === VARINT ? encodeVarint(encoded) : encodeFixed64(encoded));
    return;
  }
  const bytes =
    typeof type !== "string"
      ? encodeMessage(type, value as MessageFields<Fields>)
      : type === "bytes"
        ? (value as Uint8Array)
        : Buffer.from(value as string, "utf8");
  // A present message is written even if empty: the receiver distinguishes it from an absent one.
  if (bytes.length === 0 && typeof type === "string" && !evenIfZero) return;
  out.push(tag, encodeVarint(bytes.length), bytes);
}

function writePacked(out: Uint8Array[], { tag, type }: Entry, items: readonly unknown[]): void {
  if (items.length === 0) return;
  const payload = Buffer.concat(items.map((item) => encodeVarint(scalarVarint(type as keyof Scalars, item))));
  out.push(tag, encodeVarint(payload.length), payload);
}

function tagOf(number: number, wireType: number): Uint8Array {
  return encodeVarint(number * 8 + wireType);
}

/** Little-endian. */
function encodeFixed64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}

/** Negative integers are the 64-bit two's complement: ten bytes, never zig-zag. */
function scalarVarint(type: keyof Scalars, value: unknown): bigint {
  if (type === "bool") return value === true ? 1n : 0n;
  return BigInt.asUintN(64, BigInt(value as number | bigint));
}

function readValue(reader: WireReader, { type, wireType: expected }: Entry, wireType: number): unknown {
  if (wireType !== expected) {
    throw new MalformedProtobufError(`wire type ${wireType} where ${expected} was expected`);
  }
  if (typeof type !== "string") return decodeMessage(type, reader.lengthDelimited());
  switch (type) {
    case "bytes":
      return reader.lengthDelimited();
    case "string":
      return Buffer.from(reader.lengthDelimited()).toString("utf8");
    case "bool":
      return reader.varint() !== 0n;
    case "int32":
      return Number(BigInt.asIntN(32, reader.varint()));
    case "uint32":
      return Number(BigInt.asUintN(32, reader.varint()));
    case "int64":
      return BigInt.asIntN(64, reader.varint());
    case "sfixed64":
      return BigInt.asIntN(64, reader.fixed64());
    default:
      return reader.varint();
  }
}

/** Reads the wire form sequentially. */
export class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): bigint {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt(low);
    }
    let value = BigInt(low);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value & UINT64_MASK;
    }
    throw new MalformedProtobufError("varint of more than ten bytes");
  }

  /** A tag or a length, usually one byte. */
  uint32(): number {
    const first = this.#bytes[this.#at];
    if (first !== undefined && first < 0x80) {
      this.#at++;
      return first;
    }
    const value = Number(this.varint());
    if (value > 0xffff_ffff) throw new MalformedProtobufError("tag or length above 2^32");
    return value;
  }

  lengthDelimited(): Uint8Array {
    const length = this.uint32();
    const start = this.#at;
    if (length > this.#bytes.length - start) {
      throw new MalformedProtobufError("message is cut short");
    }
    this.#at = start + length;
    return this.#bytes.subarray(start, this.#at);
  }

  fixed64(): bigint {
    const start = this.#at;
    this.#advance(8);
    const { buffer, byteOffset } = this.#bytes;
    return new DataView(buffer, byteOffset).getBigUint64(start, true);
  }

  skip(wireType: number): void {
    if (wireType === VARINT) this.varint();
    else if (wireType === LENGTH_DELIMITED) this.lengthDelimited();
    else if (wireType === FIXED64) this.fixed64();
    else if (wireType === FIXED32) this.#advance(4);
    else throw new MalformedProtobufError(`unknown wire type ${wireType}`);
  }

  #advance(count: number): void {
    if (count > this.#bytes.length - this.#at) {
      throw new MalformedProtobufError("message is cut short");
    }
    this.#at += count;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new MalformedProtobufError("message is cut short");
    this.#at++;
    return byte;
  }
}
