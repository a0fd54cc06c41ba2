import { defineMethod, namespaceOf } from "../dispatch/method.ts";
import { json } from "../params/codec.ts";
import { andThen } from "../ports/maybe-promise.ts";
import type { NodePort } from "../ports/node.ts";
import type { RpcSettings } from "../ports/rpc-ports.ts";
import { openRpcDocument } from "./open-rpc.ts";

/** `rpc_discover`: the OpenRPC document of the methods enabled where the caller came in. */
export const discover = defineMethod({
  name: "rpc_discover",
  params: {},
  result: json,
  handle(
    _params,
    { node, settings }: { node: Pick<NodePort, "info">; settings: Pick<RpcSettings, "methods"> },
    { access },
  ) {
    const namespaces = new Set([...access.namespaces, "rpc"]);
    const enabled = settings.methods.filter(({ name }) => namespaces.has(namespaceOf(name)));
    return andThen(node.info(), ({ clientVersion }) => {
      const [title = "", version = ""] = clientVersion.split("/");
      return openRpcDocument(enabled, { title, version: version.replace(/^v/, "") });
    });
  },
});
