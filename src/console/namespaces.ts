import { builtinModules } from "node:module";
import { inspect } from "node:util";
import { describeSchema, fromJsonValue, toJsonValue } from "./json-values.ts";
import type { MethodDescription } from "./open-rpc.ts";
import type { RpcConnection } from "./rpc-connection.ts";

/** A method as a function. Typed without parentheses, the console prints its signature. */
export type ConsoleMethod = (...values: unknown[]) => Promise<unknown>;

/** Functions by namespace and name: `eth.getBalance`. No object in it has a prototype. */
export type Namespaces = Readonly<Record<string, Readonly<Record<string, ConsoleMethod>>>>;

/** `eth_signTypedData_v4` is one. */
const METHOD_NAME = /^([a-z][a-z0-9]*)_([A-Za-z]\w*)$/;

/** Names that JavaScript looks up by itself, to wait for a value or to print it. */
const LANGUAGE_NAMES: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  ...["prototype", "then", "toJSON"],
]);

/**
 * Namespaces that a node cannot have: `console.log(key)` and `fs.readFileSync(path)` mean this machine. `net` is a
 * module of Node too, and a namespace of every node.
 */
const TAKEN_NAMESPACES: ReadonlySet<string> = new Set([
  ...LANGUAGE_NAMES,
  ...Object.getOwnPropertyNames(globalThis),
  ...builtinModules.filter((name) => name !== "net"),
  ...["module", "exports", "require", "global"],
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
export function signatureOf({ name, params, result, needsToken }: MethodDescription): string {
  const listed = params.map(
    (param) => `${param.name}${param.required ? "" : "?"}: ${describeSchema(param.schema)}`,
  );
  const signature = `${name.replace("_", ".")}(${listed.join(", ")}): ${describeSchema(result)}`;
  return needsToken ? `${signature}  (needs a token)` : signature;
}

function functionOf(
  method: MethodDescription,
  connection: Pick<RpcConnection, "request">,
): ConsoleMethod {
  const call = async (...values: unknown[]) => {
    const params = values.map((value, index) => toJsonValue(value, method.params[index]?.schema));
    return fromJsonValue(await connection.request(method.name, params), method.result);
  };
  return Object.assign(call, { [inspect.custom]: () => signatureOf(method) });
}
