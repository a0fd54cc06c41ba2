import { defineMethod, type MethodInfo, namespaceOf } from "../dispatch/method.ts";
import { json } from "../params/codec.ts";
import type { NodeInfo } from "../ports/node-info.ts";
import { openRpcDocument } from "./open-rpc.ts";

/** `rpc_discover`: the OpenRPC document of the methods enabled where the caller came in. */
export const discover = defineMethod({
  name: "rpc_discover",
  params: {},
  result: json,
  handle(
    _params,
    { methods, node }: { methods: () => readonly MethodInfo[]; node: NodeInfo },
    { access },
  ) {
    const namespaces = new Set([...access.namespaces, "rpc"]);
    const [title = "", version = ""] = node.clientVersion.split("/");
    return openRpcDocument(
      methods().filter(({ name }) => namespaces.has(namespaceOf(name))),
      { title, version: version.replace(/^v/, "") },
    );
  },
});
