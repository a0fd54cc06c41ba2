import { ConnectionFailedError } from "./errors.ts";
import type { Schema } from "./json-values.ts";
import { isObject } from "./rpc-connection.ts";

/** A method of the OpenRPC document. */
export type MethodDescription = {
  readonly name: string;
  readonly params: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly result: Schema;
  readonly needsToken: boolean;
};

/** Ten times what any node has; the prompt completes over all of them. */
const METHODS_MAX = 5_000;
/** More than any method takes. */
const PARAMS_MAX = 32;
/** Of names and titles, which are shown in signatures. */
const NAME_LENGTH_MAX = 100;
/** Filters and overrides nest five deep. */
const SCHEMA_DEPTH_MAX = 12;
/** Members and alternatives of one schema. */
const SCHEMA_WIDTH_MAX = 200;

/**
 * The methods of what a node answers to `rpc_discover`, as far as they are described: what has another form than a description of
 * that kind is left out, so that no later code looks at a value whose type the node chose.
 * @throws ConnectionFailedError where it is no OpenRPC document
 */
export function parseMethods(document: unknown): readonly MethodDescription[] {
  const methods = isObject(document) ? document["methods"] : undefined;
  if (!Array.isArray(methods)) {
    throw new ConnectionFailedError("rpc_discover does not answer with an OpenRPC document");
  }
  return methods.slice(0, METHODS_MAX).flatMap((method: unknown) => {
    const name = isObject(method) ? textOf(method["name"]) : undefined;
    if (!isObject(method) || name === undefined) return [];
    const { params, result } = method;
    return {
      name,
      params: listOf(params, PARAMS_MAX).map((param, index) => ({
        name: (isObject(param) && textOf(param["name"])) || `param${index}`,
        required: isObject(param) && param["required"] === true,
        schema: schemaOf(isObject(param) ? param["schema"] : undefined, SCHEMA_DEPTH_MAX),
      })),
      result: schemaOf(isObject(result) ? result["schema"] : undefined, SCHEMA_DEPTH_MAX),
      needsToken: method["x-needs-credential"] === true,
    };
  });
}

function schemaOf(value: unknown, depth: number): Schema {
  if (!isObject(value) || depth === 0) return {};
  const { items, properties, additionalProperties } = value;
  const [title, type] = [textOf(value["title"]), textOf(value["type"])];
  const oneOf = listOf(value["oneOf"], SCHEMA_WIDTH_MAX).map((each) => schemaOf(each, depth - 1));
  return {
    ...(title !== undefined && { title }),
    ...(type !== undefined && { type }),
    ...(oneOf.length > 0 && { oneOf }),
    ...(isObject(items) && { items: schemaOf(items, depth - 1) }),
    ...(isObject(properties) && { properties: propertiesOf(properties, depth - 1) }),
    ...(isObject(additionalProperties) && {
      additionalProperties: schemaOf(additionalProperties, depth - 1),
    }),
  };
}

/** Without a prototype: its names are the node's. */
function propertiesOf(
  properties: Readonly<Record<string, unknown>>,
  depth: number,
): Record<string, Schema> {
  const copy: Record<string, Schema> = Object.create(null);
  for (const [name, each] of Object.entries(properties).slice(0, SCHEMA_WIDTH_MAX)) {
    copy[name] = schemaOf(each, depth);
  }
  return copy;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= NAME_LENGTH_MAX ? value : undefined;
}

function listOf(value: unknown, max: number): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, max) : [];
}
