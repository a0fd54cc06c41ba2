import { defineMethod } from "../dispatch/method.ts";
import { jsonInteger } from "../params/codec.ts";
import { andThen } from "../ports/maybe-promise.ts";
import type { NodePort } from "../ports/node.ts";

/** `net_peerCount`: connected peers as a JSON integer; geth writes a QUANTITY here, our service does not. */
export const peerCount = defineMethod({
  name: "net_peerCount",
  params: {},
  result: jsonInteger,
  handle: (_params, { node }: { node: Pick<NodePort, "info"> }) =>
    andThen(node.info(), ({ peerCount }) => peerCount),
});
