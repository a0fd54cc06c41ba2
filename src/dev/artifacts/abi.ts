import { addressFromWord, checksumAddress } from "../../base/primitives/address.ts";
import { bytesToBigint } from "../../base/primitives/bytes.ts";
import { bytesToHex, type Hex } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";

/** A parameter as Solidity's JSON ABI has it. */
export type AbiParameter = {
  readonly name?: string;
  readonly type: string;
  readonly indexed?: boolean;
  readonly components?: readonly AbiParameter[];
};

/** A function, event or error of a contract's ABI. */
export type AbiItem = {
  readonly type: string;
  readonly name?: string;
  readonly inputs?: readonly AbiParameter[];
  readonly outputs?: readonly AbiParameter[];
};

/** keccak256 of `name(type,…)`: the topic of an event; its first four bytes select a function or an error. */
export function signatureHash({ name = "", inputs = [] }: AbiItem): Hex {
  return bytesToHex(keccak256(Buffer.from(`${name}(${inputs.map(canonicalType).join()})`)));
}

export function selectorOf(item: AbiItem): Hex {
  return signatureHash(item).slice(0, 10) as Hex;
}

/** `tuple` written out, as signatures have it. */
function canonicalType({ type, components = [] }: AbiParameter): string {
  if (!type.startsWith("tuple")) return type;
  return `(${components.map(canonicalType).join()})${type.slice("tuple".length)}`;
}

const WORD = 32;
/** Longest text of one string or bytes, in bytes. */
const BYTES_SHOWN = 128;
/** Elements of an array that are shown. */
const ELEMENTS_SHOWN = 16;
/** Deepest nesting of arrays and tuples: data of a contract may claim any. */
const DEPTH_MAX = 8;

/** Data that does not match the ABI. */
class MalformedAbiError extends Error {}

/** `name: value, …` of ABI-encoded values (Solidity's contract ABI specification); undefined where the data encodes something else. */
export function abiText(parameters: readonly AbiParameter[], data: Uint8Array): string | undefined {
  try {
    return tupleText(parameters, data, 0, 0);
  } catch (error) {
    if (error instanceof MalformedAbiError) return undefined;
    throw error;
  }
}

/** @param base where the encoding of the tuple begins: offsets count from there */
function tupleText(parameters: readonly AbiParameter[], data: Uint8Array, base: number, depth: number): string {
  let head = base;
  const texts = parameters.map((parameter) => {
    const at = isDynamic(parameter) ? base + lengthAt(data, head) : head;
    head += headSize(parameter);
    const text = valueText(parameter, data, at, depth);
    return parameter.name ? `${parameter.name}: ${text}` : text;
  });
  return texts.join(", ");
}

function valueText(parameter: AbiParameter, data: Uint8Array, at: number, depth: number): string {
  if (depth > DEPTH_MAX) throw new MalformedAbiError();
  const { type, components = [] } = parameter;
  const array = /^(.*)\[(\d*)\]$/.exec(type);
  if (array) {
    const [, element = "", size = ""] = array;
    const count = size === "" ? lengthAt(data, at) : Number(size);
    return arrayText({ ...parameter, type: element, name: "" }, data, {
      at: size === "" ? at + WORD : at,
      count,
      depth,
    });
  }
  if (type === "tuple") return `(${tupleText(components, data, at, depth + 1)})`;
  if (type === "string") return JSON.stringify(Buffer.from(bytesAt(data, at)).toString());
  if (type === "bytes") return bytesToHex(bytesAt(data, at));
  const word = wordAt(data, at);
  if (type === "address") return checksumAddress(addressFromWord(bytesToBigint(word)));
  if (type === "bool") return String(bytesToBigint(word) !== 0n);
  if (type.startsWith("uint")) return String(bytesToBigint(word));
  if (type.startsWith("int")) return String(BigInt.asIntN(256, bytesToBigint(word)));
  const size = /^bytes(\d+)$/.exec(type)?.[1];
  return bytesToHex(size === undefined ? word : word.subarray(0, Number(size)));
}

function arrayText(
  element: AbiParameter,
  data: Uint8Array,
  { at, count, depth }: { readonly at: number; readonly count: number; readonly depth: number },
): string {
  const shown = Array.from({ length: Math.min(count, ELEMENTS_SHOWN) }, () => element);
  const rest = count > shown.length ? `, … ${count - shown.length} more` : "";
  return `[${tupleText(shown, data, at, depth + 1)}${rest}]`;
}

function isDynamic({ type, components = [] }: AbiParameter): boolean {
  if (type === "string" || type === "bytes" || type.endsWith("[]")) return true;
  const element = /^(.*)\[\d+\]$/.exec(type)?.[1];
  if (element !== undefined) return isDynamic({ type: element, components });
  return type === "tuple" && components.some(isDynamic);
}

/** Bytes that a parameter takes before the data of dynamic ones. */
function headSize(parameter: AbiParameter): number {
  if (isDynamic(parameter)) return WORD;
  const { type, components = [] } = parameter;
  const array = /^(.*)\[(\d+)\]$/.exec(type);
  if (array) return Number(array[2]) * headSize({ type: array[1]!, components });
  if (type !== "tuple") return WORD;
  return components.reduce((sum, component) => sum + headSize(component), 0);
}

function wordAt(data: Uint8Array, at: number): Uint8Array {
  if (at + WORD > data.length) throw new MalformedAbiError();
  return data.subarray(at, at + WORD);
}

/** A length or an offset: beyond the data it is wrong in any case. */
function lengthAt(data: Uint8Array, at: number): number {
  const value = bytesToBigint(wordAt(data, at));
  if (value > BigInt(data.length)) throw new MalformedAbiError();
  return Number(value);
}

function bytesAt(data: Uint8Array, at: number): Uint8Array {
  const length = lengthAt(data, at);
  const start = at + WORD;
  if (start + length > data.length) throw new MalformedAbiError();
  return data.subarray(start, start + Math.min(length, BYTES_SHOWN));
}
