import { string } from "../codec.ts";
import { defineMethod } from "../method.ts";
import type { NodeInfo } from "../node-info.ts";

/** `net_version`: the network id as a decimal string. */
export const version = defineMethod({
  name: "net_version",
  params: {},
  result: string,
  handle: (_params, { node }: { node: NodeInfo }) => node.networkId.toString(),
});
