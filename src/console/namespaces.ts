import { inspect } from "node:util";
import { describeSchema, fromJsonValue, type Schema, toJsonValue } from "./json-values.ts";
import type { RpcConnection } from "./rpc-connection.ts";

/** A method of the OpenRPC document. */
export type MethodDescription = {
  readonly name: string;
  readonly params: readonly {
    readonly name: string;
    readonly required?: boolean;
    readonly schema?: Schema;
  }[];
  readonly result: { readonly schema?: Schema };
  readonly "x-needs-credential"?: boolean;
};

/** A method as a function. Typed without parentheses, the console prints its signature. */
export type ConsoleMethod = (...values: unknown[]) => Promise<unknown>;

/** Functions by namespace and name: `eth.getBalance`. */
export type Namespaces = Record<string, Record<string, ConsoleMethod>>;

/** Makes an object of each namespace that the node's `rpc_discover` describes. */
export function namespacesOf(
  methods: readonly MethodDescription[],
  connection: Pick<RpcConnection, "request">,
): Namespaces {
  const namespaces: Namespaces = {};
  for (const method of methods) {
    const [namespace = "", ...rest] = method.name.split("_");
    namespaces[namespace] ??= {};
    namespaces[namespace][rest.join("_")] = functionOf(method, connection);
  }
  return namespaces;
}

/** `eth.getBalance(address: address, block?: block): QUANTITY` */
export function signatureOf({ name, params, result, ...rest }: MethodDescription): string {
  const listed = params.map(
    (param) => `${param.name}${param.required ? "" : "?"}: ${describeSchema(param.schema)}`,
  );
  const signature = `${name.replace("_", ".")}(${listed.join(", ")}): ${describeSchema(result.schema)}`;
  return rest["x-needs-credential"] ? `${signature}  (needs a token)` : signature;
}

function functionOf(
  method: MethodDescription,
  connection: Pick<RpcConnection, "request">,
): ConsoleMethod {
  const call = async (...values: unknown[]) => {
    const params = values.map((value, index) => toJsonValue(value, method.params[index]?.schema));
    return fromJsonValue(await connection.request(method.name, params), method.result.schema);
  };
  return Object.assign(call, { [inspect.custom]: () => signatureOf(method) });
}
