import type { AccessPolicy } from "../dispatch/context.ts";
import { defineMethod, namespaceOf } from "../dispatch/method.ts";
import { json } from "../params/codec.ts";
import { andThen, type MaybePromise } from "../ports/maybe-promise.ts";
import type { NodePort } from "../ports/node.ts";
import type { RpcSettings } from "../ports/rpc-ports.ts";
import { type OpenRpcDocument, openRpcDocument } from "./open-rpc.ts";

export type DiscoverModules = {
  readonly node: Pick<NodePort, "info">;
  readonly settings: Pick<RpcSettings, "methods">;
};

/** `rpc_discover`: the OpenRPC document of the methods enabled where the caller came in. `GET /openrpc.json` answers the same. */
export const discover = defineMethod({
  name: "rpc_discover",
  params: {},
  result: json,
  handle: (_params, modules: DiscoverModules, { access }) => documentOfListener(access, modules),
});

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
    const [title = "", version = ""] = clientVersion.split("/");
    return openRpcDocument(served, { title, version: version.replace(/^v/, "") });
  });
}
