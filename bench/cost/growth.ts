import { DEV_ADDRESSES } from "../../test/support/accounts.ts";
import type { Parameter, Schema } from "./inputs.ts";

/** A place of a method's parameters that holds as many items, or as much data, as a caller wants. */
export type Place = { readonly path: string; parameters(size: number): readonly unknown[] };

type Grown = { readonly path: string; value(size: number): unknown };

/** Objects in objects; what is deeper repeats what is above it. */
const DEPTH_MAX = 5;

const word = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;
const address = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;

/** Each place that can grow, the others as small as they may be. */
export function placesOf(parameters: readonly Parameter[]): readonly Place[] {
  const smallest = parameters.map(({ schema }) => smallestOf(schema, 0));
  return parameters.flatMap(({ name, schema }, at) =>
    growthsOf(schema, name, DEPTH_MAX).map(({ path, value }) => ({
      path,
      parameters: (size: number) => smallest.map((each, i) => (i === at ? value(size) : each)),
    })),
  );
}

function growthsOf(schema: Schema, path: string, depth: number): readonly Grown[] {
  if (depth === 0) return [];
  const { oneOf, items, properties, additionalProperties, title } = schema;
  if (oneOf) return unique(oneOf.flatMap((each) => growthsOf(each, path, depth)));
  if (title === "DATA") return [{ path, value: (size) => `0x${"01".repeat(size * BYTES_PER_ITEM)}` }];
  if (isFixed(schema)) return [];
  if (Object.keys(schema).length === 0) return anything(path);
  if (schema.type === "string") return [{ path, value: (size) => "x".repeat(size * BYTES_PER_ITEM) }];
  const grown: Grown[] = [];
  if (items || schema.type === "array") {
    const item = items ?? {};
    grown.push({ path: `${path}[]`, value: (size) => Array.from({ length: size }, (_, i) => smallestOf(item, i)) });
    for (const each of growthsOf(item, `${path}[0]`, depth - 1)) {
      grown.push({ path: each.path, value: (size) => [each.value(size)] });
    }
  }
  if (additionalProperties) {
    // As in `inputs.ts`: values of 32 bytes are storage, other names are addresses.
    const nameOf = additionalProperties.title === "hash" ? word : address;
    grown.push({
      path: `${path}{}`,
      value: (size) =>
        Object.fromEntries(
          Array.from({ length: size }, (_, i) => [nameOf(i + 1), smallestOf(additionalProperties, i)]),
        ),
    });
    for (const each of growthsOf(additionalProperties, `${path}{0}`, depth - 1)) {
      grown.push({ path: each.path, value: (size) => ({ [nameOf(1)]: each.value(size) }) });
    }
  }
  for (const [name, property] of Object.entries(properties ?? {})) {
    const around = smallestOf(schema, 0) as object;
    for (const each of growthsOf(property, `${path}.${name}`, depth - 1)) {
      grown.push({ path: each.path, value: (size) => ({ ...around, [name]: each.value(size) }) });
    }
  }
  return unique(grown);
}

/** An item of a list has some tens of bytes. */
const BYTES_PER_ITEM = 32;

function isFixed({ title, pattern, enum: names, type }: Schema): boolean {
  if (names || title === "address" || title === "hash" || title === "QUANTITY") return true;
  if (title === "block" || title === "block number or tag" || /\{(40|64)\}/.test(pattern ?? "")) return true;
  return type === "boolean" || type === "integer" || type === "number" || type === "null";
}

function anything(path: string): readonly Grown[] {
  return [
    { path: `${path}[]`, value: (size) => Array.from({ length: size }, (_, i) => i) },
    {
      path: `${path}{}`,
      value: (size) => Object.fromEntries(Array.from({ length: size }, (_, i) => [`name${i}`, i])),
    },
  ];
}

function unique(grown: readonly Grown[]): readonly Grown[] {
  return [...new Map(grown.map((each) => [each.path, each])).values()];
}

/** The smallest value of a schema; others for other `i` where there are. */
function smallestOf(schema: Schema, i: number): unknown {
  const { oneOf, enum: names, title, pattern, properties = {}, required = [] } = schema;
  if (oneOf) return smallestOf(oneOf[0]!, i);
  if (names) return names[i % names.length];
  if (title === "block" || title === "block number or tag") return "latest";
  if (title === "address" || pattern?.includes("{40}")) return i === 0 ? DEV_ADDRESSES[0] : address(i);
  if (title === "hash" || pattern?.includes("{64}")) return word(i);
  if (title === "DATA") return "0x01";
  if (title === "QUANTITY") return `0x${(i + 1).toString(16)}`;
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "array":
      return [];
    case "object":
      return Object.fromEntries(required.map((name) => [name, smallestOf(properties[name] ?? {}, i)]));
    case "boolean":
      return false;
    case "integer":
    case "number":
      return i;
    case "string":
      return `text${i}`;
    default:
      return null;
  }
}
