import { builtinModules } from "node:module";
import { inspect } from "node:util";
import { isJsonObject } from "../../base/primitives/shape.ts";
import { ConnectionFailedError, type RpcConnection } from "./connection.ts";

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

/** A method of the OpenRPC document. */
type MethodDescription = {
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
  const methods = isJsonObject(document) ? document["methods"] : undefined;
  if (!Array.isArray(methods)) {
    throw new ConnectionFailedError("rpc_discover does not answer with an OpenRPC document");
  }
  return methods.slice(0, METHODS_MAX).flatMap((method: unknown) => {
    const name = isJsonObject(method) ? textOf(method["name"]) : undefined;
    if (!isJsonObject(method) || name === undefined) return [];
    const { params, result } = method;
    return {
      name,
      params: listOf(params, PARAMS_MAX).map((param, index) => ({
        name: (isJsonObject(param) && textOf(param["name"])) || `param${index}`,
        required: isJsonObject(param) && param["required"] === true,
        schema: schemaOf(isJsonObject(param) ? param["schema"] : undefined, SCHEMA_DEPTH_MAX),
      })),
      result: schemaOf(isJsonObject(result) ? result["schema"] : undefined, SCHEMA_DEPTH_MAX),
      needsToken: method["x-needs-credential"] === true,
    };
  });
}

function schemaOf(value: unknown, depth: number): Schema {
  if (!isJsonObject(value) || depth === 0) return {};
  const { items, properties, additionalProperties } = value;
  const [title, type] = [textOf(value["title"]), textOf(value["type"])];
  const oneOf = listOf(value["oneOf"], SCHEMA_WIDTH_MAX).map((each) => schemaOf(each, depth - 1));
  return {
    ...(title !== undefined && { title }),
    ...(type !== undefined && { type }),
    ...(oneOf.length > 0 && { oneOf }),
    ...(isJsonObject(items) && { items: schemaOf(items, depth - 1) }),
    ...(isJsonObject(properties) && { properties: propertiesOf(properties, depth - 1) }),
    ...(isJsonObject(additionalProperties) && {
      additionalProperties: schemaOf(additionalProperties, depth - 1),
    }),
  };
}

/** Without a prototype: its names are the node's. */
function propertiesOf(properties: Readonly<Record<string, unknown>>, depth: number): Record<string, Schema> {
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

/** A method as a function. Typed without parentheses, the console prints its signature. */
type ConsoleMethod = (...values: unknown[]) => Promise<unknown>;

/** Functions by namespace and name: `eth.getBalance`. No object in it has a prototype. */
export type Namespaces = Readonly<Record<string, Readonly<Record<string, ConsoleMethod>>>>;

/** `eth_signTypedData_v4` is one. */
const METHOD_NAME = /^([a-z][a-z0-9]*)_([A-Za-z]\w*)$/;

/** Names that JavaScript looks up implicitly, to wait for a value or to print it. */
const LANGUAGE_NAMES: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  "prototype",
  "then",
  "toJSON",
]);

/**
 * Namespaces that a node cannot have: `console.log(key)` and `fs.readFileSync(path)` mean this machine. `net` is a
 * module of Node too, and a namespace of every node.
 */
const TAKEN_NAMESPACES: ReadonlySet<string> = new Set([
  ...LANGUAGE_NAMES,
  ...Object.getOwnPropertyNames(globalThis),
  ...builtinModules.filter((name) => name !== "net"),
  "module",
  "exports",
  "require",
  "global",
]);

/**
 * Makes an object of each namespace in `methods`. A method whose name is not `namespace_name`, or would hide a name of JavaScript,
 * of Node or of the console, is left out: `rpc("name")` calls it.
 * @param ownNames of the console
 */
export function namespacesOf(
  methods: readonly MethodDescription[],
  connection: Pick<RpcConnection, "request">,
  ownNames: ReadonlySet<string>,
): Namespaces {
  const namespaces: Record<string, Record<string, ConsoleMethod>> = Object.create(null);
  for (const method of methods) {
    const [, namespace, name] = METHOD_NAME.exec(method.name) ?? [];
    if (namespace === undefined || name === undefined || LANGUAGE_NAMES.has(name)) continue;
    if (TAKEN_NAMESPACES.has(namespace) || ownNames.has(namespace)) continue;
    namespaces[namespace] ??= Object.create(null) as Record<string, ConsoleMethod>;
    namespaces[namespace][name] = functionOf(method, connection);
  }
  return namespaces;
}

/** `eth.getBalance(address: address, block?: block): QUANTITY` */
function signatureOf({ name, params, result, needsToken }: MethodDescription): string {
  const listed = params.map((param) => `${param.name}${param.required ? "" : "?"}: ${describeSchema(param.schema)}`);
  const signature = `${name.replace("_", ".")}(${listed.join(", ")}): ${describeSchema(result)}`;
  return needsToken ? `${signature}  (needs a token)` : signature;
}

function functionOf(method: MethodDescription, connection: Pick<RpcConnection, "request">): ConsoleMethod {
  const call = async (...values: unknown[]) => {
    const params = values.map((value, index) => toJsonValue(value, method.params[index]?.schema));
    return fromJsonValue(await connection.request(method.name, params), method.result);
  };
  return Object.assign(call, { [inspect.custom]: () => signatureOf(method) });
}
