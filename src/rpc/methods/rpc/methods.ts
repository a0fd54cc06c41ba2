import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import type { NodePort } from "../../ports/node.ts";
import { json } from "../../transport/codec.ts";
import type { AccessPolicy } from "../../transport/dispatch/context.ts";
import { type MethodInfo, namespaceOf } from "../../transport/dispatch/method.ts";
import { defineMethod } from "../define-method.ts";
import { mapOf } from "../json/schemas.ts";
import type { RpcSettings } from "../rpc-ports.ts";

/** Of the OpenRPC specification. */
const OPEN_RPC_VERSION = "1.3.2";

export type OpenRpcDocument = ReturnType<typeof openRpcDocument>;

/** The OpenRPC document of `methods`, in order of their names. */
function openRpcDocument(methods: readonly MethodInfo[], info: { readonly title: string; readonly version: string }) {
  const sorted = [...methods].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    openrpc: OPEN_RPC_VERSION,
    info,
    methods: sorted.map(({ name, params, resultSchema, isPrivate }) => ({
      name,
      tags: [{ name: namespaceOf(name) }],
      paramStructure: "by-position",
      params: params.map((param) => ({
        name: param.name,
        required: param.isRequired,
        schema: param.schema,
      })),
      result: { name: "result", schema: resultSchema },
      ...(isPrivate && { "x-needs-credential": true }),
    })),
  };
}

/** `rpc_discover`: the OpenRPC document of the methods enabled on the caller's listener. `GET /openrpc.json` returns the same. */
export const discover = defineMethod({
  name: "rpc_discover",
  params: {},
  result: json,
  handle: (_params, modules, { access }) => documentOfListener(access, modules),
});

export type DiscoverModules = {
  readonly node: Pick<NodePort, "info">;
  readonly settings: Pick<RpcSettings, "methods">;
};

/** The document of the methods that a listener with `access` serves, private ones included. */
export function documentOfListener(
  { namespaces, deniedMethods }: AccessPolicy,
  { node, settings }: DiscoverModules,
): MaybePromise<OpenRpcDocument> {
  const served = settings.methods.filter(({ name }) => {
    const namespace = namespaceOf(name);
    return (namespace === "rpc" || namespaces.has(namespace)) && !deniedMethods?.has(name);
  });
  return andThen(node.info(), ({ clientVersion }) => {
    // A dev chain's version may begin with another name.
    const [, version = ""] = /\/v([^/]+)/.exec(clientVersion) ?? [];
    return openRpcDocument(served, { title: "Evmint", version });
  });
}

/** `rpc_modules`: the namespaces enabled on the caller's listener, each with version "1.0". */
export const modules = defineMethod({
  name: "rpc_modules",
  params: {},
  result: { ...json, schema: mapOf({ type: "string" }) },
  handle: (_params, _modules, { access }) =>
    Object.fromEntries([...new Set([...access.namespaces, "rpc"])].sort().map((name) => [name, "1.0"])),
});
