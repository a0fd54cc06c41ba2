import { defineMethod } from "../dispatch/method.ts";
import { string } from "../params/codec.ts";
import type { NodeInfo } from "../ports/node-info.ts";

/** `net_version`: the network id as a decimal string. */
export const version = defineMethod({
  name: "net_version",
  params: {},
  result: string,
  handle: (_params, { node }: { node: NodeInfo }) => node.networkId.toString(),
});
