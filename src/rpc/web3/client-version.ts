import { defineMethod } from "../dispatch/method.ts";
import { string } from "../params/codec.ts";
import { andThen } from "../ports/maybe-promise.ts";
import type { NodePort } from "../ports/node.ts";

/** `web3_clientVersion`: name, version, system and runtime of this node, separated by slashes. */
export const clientVersion = defineMethod({
  name: "web3_clientVersion",
  params: {},
  result: string,
  handle: (_params, { node }: { node: Pick<NodePort, "info"> }) =>
    andThen(node.info(), ({ clientVersion }) => clientVersion),
});
