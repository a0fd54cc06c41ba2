import { NodeError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../primitives/shape.ts";

/** A genesis file with impossible or missing content; `details.field` names the place. */
export class InvalidGenesisError extends NodeError {
  readonly code = "INVALID_GENESIS";
  constructor(field: string, reason: string, options?: ErrorOptions) {
    super(`invalid genesis: ${field}: ${reason}`, { field, reason }, options);
  }
}

/** A text without a match has no long integer: avoids looking at each string. */
const MAYBE_LONG_INTEGER = /[[:,\s]-?\d{16}/;
/** A string, or an integer literal of 16 digits and more. */
const LONG_INTEGER = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/**
 * `JSON.parse` that decodes integers beyond a double's precision as strings of digits: genesis files contain the terminal total difficulty and
 * balances as plain numbers.
 */
export function parseJsonKeepingIntegers(text: string): unknown {
  const quoted = MAYBE_LONG_INTEGER.test(text)
    ? text.replace(LONG_INTEGER, (token) => (token.startsWith('"') ? token : `"${token}"`))
    : text;
  try {
    return JSON.parse(quoted);
  } catch (error) {
    const place = placeOf(text);
    throw new InvalidGenesisError("genesis", `not JSON${place}`, { cause: error });
  }
}

/** ` (line 3, column 7: …)` of the first fault of `text`, as the JSON parser reports its position. */
function placeOf(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    const reason = (error as Error).message;
    const position = /at position (\d+)/.exec(reason)?.[1];
    const end = position === undefined ? text.length : Number(position);
    const lines = text.slice(0, end).split("\n");
    return ` (line ${lines.length}, column ${lines.at(-1)!.length + 1}: ${reason.split("\n")[0]})`;
  }
}

export function fieldPath(parent: string, key: string): string {
  return parent === "" ? key : `${parent}.${key}`;
}

/** The value read from `json[key]`; undefined if it is absent or null. */
export function readOptional<T>(
  json: JsonObject,
  parent: string,
  key: string,
  read: (value: unknown, field: string) => T,
): T | undefined {
  const value = json[key];
  if (value === undefined || value === null) return undefined;
  return read(value, fieldPath(parent, key));
}

export function readObject(json: unknown, field: string): JsonObject {
  if (!isJsonObject(json)) {
    throw new InvalidGenesisError(field, "not an object");
  }
  return json;
}

export function readText(json: unknown, field: string): string {
  if (typeof json !== "string") throw new InvalidGenesisError(field, "not a string");
  return json;
}

export function readBoolean(json: unknown, field: string): boolean {
  if (typeof json !== "boolean") throw new InvalidGenesisError(field, "not a boolean");
  return json;
}

/** A non-negative integer of at most `bits` bits: a JSON number, or a decimal or hex string; leading zeros and "" are allowed. */
export function readInteger(json: unknown, field: string, bits: number): bigint {
  const value = integerOf(json);
  if (value === undefined) throw new InvalidGenesisError(field, "not an integer, decimal or hex");
  if (value < 0n) throw new InvalidGenesisError(field, "negative");
  if (value >= 1n << BigInt(bits)) throw new InvalidGenesisError(field, `more than ${bits} bits`);
  return value;
}

/** Like `readInteger`, below 2^53. */
export function readSafeInteger(json: unknown, field: string): number {
  return Number(readInteger(json, field, 53));
}

function integerOf(json: unknown): bigint | undefined {
  if (typeof json === "number") return Number.isSafeInteger(json) ? BigInt(json) : undefined;
  if (typeof json !== "string") return undefined;
  if (json === "") return 0n;
  if (/^0[xX][0-9a-fA-F]+$/.test(json) || /^-?[0-9]+$/.test(json)) return BigInt(json);
  return undefined;
}
