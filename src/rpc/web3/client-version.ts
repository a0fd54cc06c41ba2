import { defineMethod } from "../dispatch/method.ts";
import { string } from "../params/codec.ts";
import type { NodeInfo } from "../ports/node-info.ts";

/** `web3_clientVersion`: name, version, system and runtime of this node, separated by slashes. */
export const clientVersion = defineMethod({
  name: "web3_clientVersion",
  params: {},
  result: string,
  handle: (_params, { node }: { node: NodeInfo }) => node.clientVersion,
});
