import { bigintToFixedBytes, concatBytes } from "../../../base/primitives/bytes.ts";
import { isData } from "../../../base/primitives/hex.ts";
import { keccak256, keccak256InSteps } from "../../../base/primitives/keccak.ts";
import { hexToOwnBytes } from "../../transport/codec.ts";
import { scanJson } from "../../transport/dispatch/json-scan.ts";
import { InvalidParamsError, InvalidRequestError, TypedDataError } from "../../transport/errors.ts";
import { SERVER_LIMITS } from "../../transport/limits.ts";

type Field = { readonly name: string; readonly type: string };

type Struct = {
  readonly name: string;
  readonly fields: readonly Field[];
  /** `Name(type member,…)` */
  readonly text: string;
  /** keccak256 of the text and of the texts of all referenced structs, computed lazily. */
  hash: Uint8Array | undefined;
};

/** How values of a type are encoded: read once a request, since each may have a hundred thousand values. */
type Encoding =
  | { readonly kind: "struct"; readonly struct: Struct }
  | { readonly kind: "list"; readonly item: Encoding; readonly length: number | undefined }
  | { readonly kind: "hashed"; readonly read: (value: unknown) => Uint8Array | undefined }
  | { readonly kind: "word"; readonly encode: (value: unknown) => Uint8Array | undefined };

/** EIP-712 data of one request. Its size does not bound the work it causes. */
export const TYPED_DATA_LIMITS = {
  /** Nesting depth of structs and arrays; recursive types can nest without end. */
  depthMax: 32,
  /**
   * Values (absent ones too), members of types, and each 136 bytes to hash: up to a microsecond each. The largest orders that wallets sign
   * have a few hundred.
   */
  workMax: 50_000,
  /** Characters of typed data passed as JSON text, which is parsed synchronously. */
  textCharsMax: 2 ** 20,
} as const;

/** Between two steps: some tenths of a millisecond. */
const WORK_PER_STEP = 256;
/** Of a name that an error repeats. */
const NAME_CHARS_MAX = 200;
/** Keccak-256 absorbs this many bytes at once, which takes as long as visiting a value. */
const BYTES_PER_WORK = 136;

/**
 * The 32 bytes signed for EIP-712 typed data: keccak256(0x19 ‖ 0x01 ‖ domain separator ‖ hash of the message); in steps.
 *
 * @param value `{types, primaryType, domain, message}`, or the same as JSON text
 * @throws TypedDataError; InvalidParamsError where that takes more work than `TYPED_DATA_LIMITS.workMax`
 */
export function* typedDataHash(value: unknown): Generator<undefined, Uint8Array> {
  const data = readObject(typeof value === "string" ? parseJson(value) : value, "typed data");
  yield;
  const hasher = new TypedDataHasher(yield* readTypes(data["types"]));
  const { primaryType } = data;
  if (typeof primaryType !== "string") throw new TypedDataError("primaryType is not a string");
  const domain = yield* hasher.hash("EIP712Domain", data["domain"]);
  const prefix = Uint8Array.of(0x19, 0x01);
  if (primaryType === "EIP712Domain") return keccak256(concatBytes(prefix, domain));
  return keccak256(concatBytes(prefix, domain, yield* hasher.hash(primaryType, data["message"])));
}

/** Hashes the values of one request and counts the work, which the bytes of the request do not bound. */
class TypedDataHasher {
  readonly #structs: ReadonlyMap<string, Struct>;
  readonly #encodings = new Map<string, Encoding>();
  #work = 0;
  #workOfStep = 0;

  constructor(structs: ReadonlyMap<string, Struct>) {
    this.#structs = structs;
  }

  hash(type: string, value: unknown): Generator<undefined, Uint8Array> {
    const struct = this.#structs.get(type);
    if (!struct) throw new TypedDataError(`type ${excerpt(type)} is not defined`);
    return this.#hashStruct(struct, value, 0);
  }

  /** keccak256(typeHash ‖ encodeData) of a structure. */
  *#hashStruct(struct: Struct, value: unknown, depth: number): Generator<undefined, Uint8Array> {
    const members = readObject(value, struct.name);
    const { fields } = struct;
    this.#spend(fields.length + 1);
    struct.hash ??= yield* this.#hashType(struct);
    const encoded = new Uint8Array(32 * (fields.length + 1));
    encoded.set(struct.hash);
    let offset = 32;
    for (const { name, type } of fields) {
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      const encoding = this.#encodingOf(type);
      const word = encoding.kind === "word" ? encoding.encode(member) : yield* this.#encode(encoding, member, depth);
      // A structure that is absent is 32 zero bytes, as in every wallet.
      if (word === undefined) throw mismatch(name, type);
      encoded.set(word, offset);
      offset += 32;
      if (this.#isStepOver(1)) yield;
    }
    return yield* this.#keccak(encoded);
  }

  /** undefined: the value does not fit. */
  *#encode(encoding: Encoding, value: unknown, depth: number): Generator<undefined, Uint8Array | undefined> {
    switch (encoding.kind) {
      case "word":
        return encoding.encode(value);
      case "hashed": {
        if (typeof value === "string") this.#spend(Math.ceil(value.length / BYTES_PER_WORK));
        const bytes = encoding.read(value);
        return bytes && (yield* this.#keccak(bytes));
      }
      case "struct":
        if (value === null || value === undefined) return new Uint8Array(32);
        if (depth >= TYPED_DATA_LIMITS.depthMax) throw tooDeep();
        return yield* this.#hashStruct(encoding.struct, value, depth + 1);
      case "list":
        if (!Array.isArray(value) || (encoding.length ?? value.length) !== value.length) return undefined;
        return yield* this.#hashList(encoding.item, value, depth + 1);
    }
  }

  *#hashList(item: Encoding, values: readonly unknown[], depth: number): Generator<undefined, Uint8Array | undefined> {
    if (depth > TYPED_DATA_LIMITS.depthMax) throw tooDeep();
    this.#spend(values.length + 1);
    const encoded = new Uint8Array(32 * values.length);
    let offset = 0;
    for (const value of values) {
      const word = item.kind === "word" ? item.encode(value) : yield* this.#encode(item, value, depth);
      if (word === undefined) return undefined;
      encoded.set(word, offset);
      offset += 32;
      if (this.#isStepOver(1)) yield;
    }
    return yield* this.#keccak(encoded);
  }

  /** Hash of the type's text, followed by the texts of all referenced structs in order of name. */
  *#hashType(struct: Struct): Generator<undefined, Uint8Array> {
    const found = new Set([struct]);
    for (const { fields } of found) {
      this.#spend(fields.length + 1);
      for (const { type } of fields) {
        const list = type.indexOf("[");
        const member = this.#structs.get(list === -1 ? type : type.slice(0, list));
        if (member) found.add(member);
      }
      if (this.#isStepOver(fields.length + 1)) yield;
    }
    found.delete(struct);
    const names = Array.from(found, ({ name }) => name).sort();
    const texts = [struct.text, ...names.map((name) => this.#structs.get(name)!.text)];
    let length = 0;
    for (const text of texts) length += text.length;
    this.#spend(Math.ceil(length / BYTES_PER_WORK));
    return yield* this.#keccak(Buffer.from(texts.join("")));
  }

  *#keccak(bytes: Uint8Array): Generator<undefined, Uint8Array> {
    if (this.#isStepOver(bytes.length / BYTES_PER_WORK)) yield;
    return yield* keccak256InSteps(bytes);
  }

  #encodingOf(type: string): Encoding {
    const known = this.#encodings.get(type);
    if (known !== undefined) return known;
    const encoding = this.#readEncoding(type, 0);
    this.#encodings.set(type, encoding);
    return encoding;
  }

  #readEncoding(type: string, depth: number): Encoding {
    const list = type.endsWith("]") ? type.lastIndexOf("[") : -1;
    const length = list === -1 ? "" : type.slice(list + 1, -1);
    if (list !== -1 && /^\d*$/.test(length)) {
      if (depth >= TYPED_DATA_LIMITS.depthMax) throw tooDeep();
      const item = this.#readEncoding(type.slice(0, list), depth + 1);
      return { kind: "list", item, length: length === "" ? undefined : Number(length) };
    }
    const struct = this.#structs.get(type);
    return struct ? { kind: "struct", struct } : atomicEncoding(type);
  }

  /** @throws InvalidParamsError when the request asks for too much */
  #spend(work: number): void {
    this.#work += work;
    if (this.#work <= TYPED_DATA_LIMITS.workMax) return;
    throw tooLarge(`more than ${TYPED_DATA_LIMITS.workMax} members, items and blocks of ${BYTES_PER_WORK} bytes`);
  }

  #isStepOver(work: number): boolean {
    this.#workOfStep += work;
    if (this.#workOfStep < WORK_PER_STEP) return false;
    this.#workOfStep = 0;
    return true;
  }
}

/** No value fits a type that is not known. */
function atomicEncoding(type: string): Encoding {
  switch (type) {
    case "string":
      return { kind: "hashed", read: (value) => (typeof value === "string" ? Buffer.from(value) : undefined) };
    case "bytes":
      return { kind: "hashed", read: readBytes };
    case "bool":
      return { kind: "word", encode: (value) => (typeof value === "boolean" ? word(value ? 1n : 0n) : undefined) };
    case "address":
      return { kind: "word", encode: (value) => paddedBytes(value, 20, 12) };
  }
  const fixed = /^bytes(\d{1,2})$/.exec(type);
  if (fixed) {
    const length = Number(fixed[1]);
    return { kind: "word", encode: (value) => (length > 32 ? undefined : paddedBytes(value, length, 0)) };
  }
  const integer = /^(u?)int(\d{0,3})$/.exec(type);
  const bits = integer ? Number(integer[2] || 256) : 0;
  if (!integer || bits % 8 !== 0 || bits === 0 || bits > 256) return { kind: "word", encode: () => undefined };
  const isSigned = integer[1] === "";
  return { kind: "word", encode: (value) => encodeInteger(value, isSigned, bits) };
}

function encodeInteger(value: unknown, isSigned: boolean, bits: number): Uint8Array | undefined {
  const isInteger =
    (typeof value === "number" && Number.isSafeInteger(value)) ||
    (typeof value === "string" && /^(?:-?\d{1,78}|0[xX][0-9a-fA-F]{1,64})$/.test(value));
  if (!isInteger) return undefined;
  const number = BigInt(value as string | number);
  const fitting = isSigned ? BigInt.asIntN(bits, number) : BigInt.asUintN(bits, number);
  return fitting === number ? word(BigInt.asUintN(256, number)) : undefined;
}

function word(value: bigint): Uint8Array {
  return bigintToFixedBytes(value, 32);
}

/** `length` bytes with zeros around them, the first of `value` at `offset`. */
function paddedBytes(value: unknown, length: number, offset: number): Uint8Array | undefined {
  if (typeof value !== "string" || value.length !== 2 + 2 * length) return undefined;
  const bytes = readBytes(value);
  if (bytes === undefined) return undefined;
  const padded = new Uint8Array(32);
  padded.set(bytes, offset);
  return padded;
}

function readBytes(value: unknown): Uint8Array | undefined {
  if (typeof value !== "string") return undefined;
  const data = value.startsWith("0X") ? `0x${value.slice(2)}` : value;
  return isData(data) ? hexToOwnBytes(data) : undefined;
}

function* readTypes(value: unknown): Generator<undefined, ReadonlyMap<string, Struct>> {
  const structs = new Map<string, Struct>();
  let read = 0;
  for (const [name, members] of Object.entries(readObject(value, "types"))) {
    if (!Array.isArray(members)) throw new TypedDataError(`type ${excerpt(name)} is not a list`);
    const fields = members.map((entry): Field => {
      const field = readObject(entry, `type ${name}`);
      if (typeof field["name"] !== "string" || typeof field["type"] !== "string") {
        throw new TypedDataError(`type ${excerpt(name)} has a member without name or type`);
      }
      return { name: field["name"], type: field["type"] };
    });
    const text = `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`;
    structs.set(name, { name, fields, text, hash: undefined });
    read += fields.length + 1;
    if (read < WORK_PER_STEP) continue;
    read = 0;
    yield;
  }
  if (!structs.has("EIP712Domain")) throw new TypedDataError("EIP712Domain type is not defined");
  return structs;
}

function readObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypedDataError(`${excerpt(what)} is not an object`);
  }
  return value as Readonly<Record<string, unknown>>;
}

/** Counts the values of the text first: for the dispatcher it was one string. */
function parseJson(text: string): unknown {
  const { textCharsMax, workMax } = TYPED_DATA_LIMITS;
  if (text.length > textCharsMax) throw tooLarge(`text of more than ${textCharsMax} characters`);
  try {
    scanJson(Buffer.from(text), { jsonDepthMax: SERVER_LIMITS.jsonDepthMax, jsonItemsMax: workMax });
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof InvalidRequestError) throw tooLarge(error.message);
    throw new TypedDataError("typed data is not JSON");
  }
}

function tooLarge(reason: string): InvalidParamsError {
  return new InvalidParamsError(`typed data is too large: ${reason}`, "typedData");
}

/** Errors repeat names of the caller. */
function excerpt(text: string): string {
  return text.length <= NAME_CHARS_MAX ? text : `${text.slice(0, NAME_CHARS_MAX)}…`;
}

function tooDeep(): TypedDataError {
  return new TypedDataError(`typed data nests deeper than ${TYPED_DATA_LIMITS.depthMax}`);
}

function mismatch(name: string, type: string): TypedDataError {
  return new TypedDataError(`provided data for ${excerpt(name)} doesn't match type '${excerpt(type)}'`);
}
