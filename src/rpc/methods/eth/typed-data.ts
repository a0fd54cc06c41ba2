import { bigintToFixedBytes, concatBytes } from "../../../primitives/bytes.ts";
import { isData } from "../../../primitives/hex.ts";
import { keccak256 } from "../../../primitives/keccak.ts";
import { hexToOwnBytes } from "../../transport/codec.ts";
import { TypedDataError } from "../../transport/errors.ts";

type Field = { readonly name: string; readonly type: string };
type Types = ReadonlyMap<string, readonly Field[]>;

/** Structures nest no deeper; a cycle of types with endless data would. */
const DEPTH_MAX = 32;

/**
 * The 32 bytes signed for EIP-712 typed data: keccak256(0x19 ‖ 0x01 ‖ domain separator ‖ hash of the message).
 *
 * @param value `{types, primaryType, domain, message}`, or the same as JSON text
 * @throws TypedDataError
 */
export function typedDataHash(value: unknown): Uint8Array {
  const data = readObject(typeof value === "string" ? parseJson(value) : value, "typed data");
  const types = readTypes(data["types"]);
  const { primaryType } = data;
  if (typeof primaryType !== "string") throw new TypedDataError("primaryType is not a string");
  const domain = hashStruct("EIP712Domain", data["domain"], types, 0);
  const prefix = Uint8Array.of(0x19, 0x01);
  if (primaryType === "EIP712Domain") return keccak256(concatBytes(prefix, domain));
  return keccak256(concatBytes(prefix, domain, hashStruct(primaryType, data["message"], types, 0)));
}

/** keccak256(typeHash ‖ encodeData) of a structure. */
function hashStruct(type: string, value: unknown, types: Types, depth: number): Uint8Array {
  const fields = types.get(type);
  if (!fields) throw new TypedDataError(`type ${type} is not defined`);
  if (depth > DEPTH_MAX) throw new TypedDataError(`typed data nests deeper than ${DEPTH_MAX}`);
  const members = readObject(value, type);
  const parts = [keccak256(Buffer.from(encodeType(type, types)))];
  for (const field of fields) {
    parts.push(encodeValue(field.type, members[field.name], types, depth, field.name));
  }
  return keccak256(concatBytes(...parts));
}

/** `Name(type member,…)` followed by every type it refers to, in order of name. */
function encodeType(type: string, types: Types): string {
  const found = new Set<string>();
  collectTypes(type, types, found);
  found.delete(type);
  return [type, ...[...found].sort()]
    .map((name) => {
      const fields = types.get(name)!.map((field) => `${field.type} ${field.name}`);
      return `${name}(${fields.join(",")})`;
    })
    .join("");
}

function collectTypes(type: string, types: Types, found: Set<string>): void {
  const base = type.replace(/\[.*$/, "");
  const fields = types.get(base);
  if (!fields || found.has(base)) return;
  found.add(base);
  for (const field of fields) collectTypes(field.type, types, found);
}

function encodeValue(type: string, value: unknown, types: Types, depth: number, name: string): Uint8Array {
  const list = /^(.*)\[(\d*)\]$/.exec(type);
  if (list) {
    const [, item, length] = list;
    if (!Array.isArray(value) || (length !== "" && value.length !== Number(length))) {
      throw mismatch(name, type);
    }
    const items = value.map((entry) => encodeValue(item!, entry, types, depth + 1, name));
    return keccak256(concatBytes(...items));
  }
  if (types.has(type)) {
    // A structure that is not there is 32 zero bytes, as in every wallet.
    if (value === null || value === undefined) return new Uint8Array(32);
    return hashStruct(type, value, types, depth + 1);
  }
  return encodeAtomic(type, value, name);
}

function encodeAtomic(type: string, value: unknown, name: string): Uint8Array {
  if (type === "string" && typeof value === "string") return keccak256(Buffer.from(value));
  if (type === "bytes") return keccak256(readBytes(value, type, name));
  if (type === "bool" && typeof value === "boolean") return word(value ? 1n : 0n);
  if (type === "address") {
    const bytes = readBytes(value, type, name);
    if (bytes.length !== 20) throw mismatch(name, type);
    return concatBytes(new Uint8Array(12), bytes);
  }
  const fixed = /^bytes(\d{1,2})$/.exec(type);
  if (fixed) {
    const bytes = readBytes(value, type, name);
    if (bytes.length !== Number(fixed[1]) || bytes.length > 32) throw mismatch(name, type);
    return concatBytes(bytes, new Uint8Array(32 - bytes.length));
  }
  const integer = /^(u?)int(\d{0,3})$/.exec(type);
  if (integer) return encodeInteger(value, integer[1] === "", Number(integer[2] || 256), type, name);
  throw mismatch(name, type);
}

function encodeInteger(value: unknown, isSigned: boolean, bits: number, type: string, name: string): Uint8Array {
  const isInteger =
    (typeof value === "number" && Number.isSafeInteger(value)) ||
    (typeof value === "string" && /^(?:-?\d{1,78}|0[xX][0-9a-fA-F]{1,64})$/.test(value));
  if (!isInteger || bits % 8 !== 0 || bits === 0 || bits > 256) throw mismatch(name, type);
  const number = BigInt(value as string | number);
  const fitting = isSigned ? BigInt.asIntN(bits, number) : BigInt.asUintN(bits, number);
  if (fitting !== number) throw mismatch(name, type);
  return word(BigInt.asUintN(256, number));
}

function word(value: bigint): Uint8Array {
  return bigintToFixedBytes(value, 32);
}

function readBytes(value: unknown, type: string, name: string): Uint8Array {
  if (typeof value !== "string" || !isData(value.toLowerCase())) throw mismatch(name, type);
  return hexToOwnBytes(value);
}

function readTypes(value: unknown): Types {
  const types = new Map<string, readonly Field[]>();
  for (const [name, fields] of Object.entries(readObject(value, "types"))) {
    if (!Array.isArray(fields)) throw new TypedDataError(`type ${name} is not a list`);
    types.set(
      name,
      fields.map((entry) => {
        const field = readObject(entry, `type ${name}`);
        if (typeof field["name"] !== "string" || typeof field["type"] !== "string") {
          throw new TypedDataError(`type ${name} has a member without name or type`);
        }
        return { name: field["name"], type: field["type"] };
      }),
    );
  }
  if (!types.has("EIP712Domain")) throw new TypedDataError("EIP712Domain type is not defined");
  return types;
}

function readObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypedDataError(`${what} is not an object`);
  }
  return value as Readonly<Record<string, unknown>>;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TypedDataError("typed data is not JSON");
  }
}

function mismatch(name: string, type: string): TypedDataError {
  return new TypedDataError(`provided data for ${name} doesn't match type '${type}'`);
}
