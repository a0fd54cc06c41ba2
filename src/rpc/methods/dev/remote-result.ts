import { ForkRemoteError } from "../../../dev/fork/errors.ts";
import type { JsonSchema } from "../../transport/codec.ts";

/** Some clients pad what geth does not. */
const NUMBER = /^0x[0-9a-fA-F]{1,64}$/;

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Checks that a remote node's result has the form of this node's own results of the method. Clients differ in the members that they add, leave out
 * or answer as null; one that is there has its form.
 * @throws ForkRemoteError
 */
export function assertRemoteResult(method: string, schema: JsonSchema, result: unknown): void {
  const fault = result === null && !isNullable(schema) ? "result" : faultOf(result, schema);
  if (fault === undefined) return;
  throw new ForkRemoteError(`the remote chain answered ${method} in another form: ${fault}`, {
    method,
  });
}

/**
 * Checks that a remote node's answer is about the requested transaction.
 * @throws ForkRemoteError
 */
export function assertSameTransaction(params: readonly unknown[], result: unknown): void {
  const [wanted] = params;
  if (typeof wanted !== "string" || typeof result !== "object" || result === null) return;
  const { hash, transactionHash = hash } = result as JsonObject;
  if (typeof transactionHash !== "string") return;
  if (transactionHash.toLowerCase() === wanted.toLowerCase()) return;
  throw new ForkRemoteError("the remote chain answered another transaction", { hash: wanted });
}

function isNullable({ type, oneOf }: JsonSchema): boolean {
  if (Array.isArray(oneOf)) return oneOf.some(isNullable);
  return type === undefined || type === "null";
}

/** Path of the first value of another form; undefined: none. */
function faultOf(value: unknown, schema: JsonSchema, path = "result"): string | undefined {
  const { oneOf, type, items } = schema;
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(oneOf)) {
    const faults = oneOf.map((each: JsonSchema) => faultOf(value, each, path));
    return faults.includes(undefined) ? undefined : (faults.find((fault) => fault !== path) ?? path);
  }
  if (typeof type === "string" && !isOfType(value, type)) return path;
  if (typeof value === "string") return matches(value, schema) ? undefined : path;
  if (Array.isArray(value)) {
    return firstOf(value, (each, i) => faultOf(each, (items ?? {}) as JsonSchema, `${path}[${i}]`));
  }
  return typeof value === "object" ? memberFault(value as JsonObject, schema, path) : undefined;
}

function memberFault(object: JsonObject, schema: JsonSchema, path: string): string | undefined {
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const others = schema["additionalProperties"] as JsonSchema | undefined;
  return firstOf(Object.entries(object), ([name, member]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : others;
    // A member that is always null here may be a value elsewhere.
    if (known === undefined || known["type"] === "null") return undefined;
    return faultOf(member, known, `${path}.${name}`);
  });
}

function matches(text: string, { title, pattern }: JsonSchema): boolean {
  if (title === "QUANTITY") return NUMBER.test(text);
  if (typeof pattern !== "string") return true;
  return new RegExp(pattern).test(text);
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isSafeInteger(value);
  if (type === "object") return typeof value === "object" && !Array.isArray(value);
  return typeof value === type;
}

function firstOf<T>(list: readonly T[], check: (item: T, index: number) => string | undefined) {
  for (const [i, item] of list.entries()) {
    const fault = check(item, i);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
