/** A JSON Schema of the OpenRPC document, as far as the console looks at it. */
export type Schema = {
  readonly title?: string;
  readonly type?: string;
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
};

/**
 * The JSON of a value written in JavaScript: a bigint, or a number where `schema` has a string, becomes a QUANTITY, bytes become
 * DATA; everything else stays.
 */
export function toJsonValue(value: unknown, schema: Schema = {}): unknown {
  if (typeof value === "bigint") {
    return hasType(schema, "integer") ? Number(value) : `0x${value.toString(16)}`;
  }
  if (typeof value === "number") {
    const isQuantity = hasType(schema, "string") && !hasType(schema, "integer");
    return isQuantity ? `0x${value.toString(16)}` : value;
  }
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) {
    const item = alternatives(schema).find(({ items }) => items)?.items;
    return value.map((each) => toJsonValue(each, item));
  }
  if (typeof value !== "object" || value === null) return value;
  const object = alternatives(schema).find((each) => each.properties ?? each.additionalProperties);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      toJsonValue(each, object?.properties?.[key] ?? object?.additionalProperties),
    ]),
  );
}

/** Digits of a QUANTITY, which some servers pad. */
const HEX = /^0x[0-9a-f]{1,64}$/i;

/** A result as the console gives it: a QUANTITY is a bigint, everything else, also a text that is no QUANTITY, is the JSON. */
export function fromJsonValue(value: unknown, schema: Schema = {}): unknown {
  const isQuantity = alternatives(schema).some(({ title }) => title === "QUANTITY");
  return isQuantity && typeof value === "string" && HEX.test(value) ? BigInt(value) : value;
}

/** `address`, `QUANTITY`, `block`, `[address]`, or the kind of JSON. */
export function describeSchema(schema: Schema = {}): string {
  if (schema.title !== undefined) return schema.title;
  if (schema.oneOf !== undefined) return schema.oneOf.map(describeSchema).join(" | ");
  if (schema.items !== undefined) return `[${describeSchema(schema.items)}]`;
  return schema.type ?? "any";
}

function alternatives(schema: Schema): readonly Schema[] {
  return schema.oneOf?.flatMap(alternatives) ?? [schema];
}

function hasType(schema: Schema, type: string): boolean {
  return alternatives(schema).some((each) => each.type === type);
}
