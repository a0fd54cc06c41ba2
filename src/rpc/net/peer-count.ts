import { defineMethod } from "../dispatch/method.ts";
import { jsonInteger } from "../params/codec.ts";
import type { NodeInfo } from "../ports/node-info.ts";

/** `net_peerCount`: connected peers as a JSON integer; geth writes a QUANTITY here, our service does not. */
export const peerCount = defineMethod({
  name: "net_peerCount",
  params: {},
  result: jsonInteger,
  handle: (_params, { node }: { node: NodeInfo }) => node.peerCount(),
});
