import type { JsonSchema } from "../../src/rpc/transport/codec.ts";

/** Where `value` does not match `schema`, as `path: reason`; empty when it does. Members that the schema does not name are faults. */
export function schemaFaults(value: unknown, schema: JsonSchema, path = "result"): string[] {
  const { oneOf, type, pattern, properties, additionalProperties, items } = schema;
  if (Array.isArray(oneOf)) {
    const faults = oneOf.map((each: JsonSchema) => schemaFaults(value, each, path));
    if (faults.some((list) => list.length === 0)) return [];
    return faults.reduce((best, list) => (list.length < best.length ? list : best));
  }
  if (typeof type === "string" && !isOfType(value, type)) {
    return [`${path}: ${JSON.stringify(value)} is no ${type}`];
  }
  if (typeof pattern === "string" && !new RegExp(pattern).test(value as string)) {
    return [`${path}: ${JSON.stringify(value)} does not match ${pattern}`];
  }
  if (type === "array") {
    const list = value as unknown[];
    return list.flatMap((each, i) => schemaFaults(each, items as JsonSchema, `${path}[${i}]`));
  }
  if (type !== "object") return [];
  const known = (properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  const object = value as Readonly<Record<string, unknown>>;
  const missing = ((schema["required"] ?? []) as readonly string[])
    .filter((name) => !(name in object))
    .map((name) => `${path}.${name}: missing`);
  const others = Object.entries(object).flatMap(([name, member]) => {
    const memberSchema = known[name] ?? (additionalProperties as JsonSchema | undefined);
    if (memberSchema !== undefined) return schemaFaults(member, memberSchema, `${path}.${name}`);
    return properties === undefined ? [] : [`${path}.${name}: not in the schema`];
  });
  return [...missing, ...others];
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isSafeInteger(value);
  if (type === "object") return typeof value === "object" && value !== null;
  return typeof value === type;
}
