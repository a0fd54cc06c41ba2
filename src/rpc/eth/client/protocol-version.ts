import { defineMethod } from "../../dispatch/method.ts";
import { quantityNumber } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { NodePort } from "../../ports/node.ts";

/** `eth_protocolVersion`: the devp2p `eth` version. */
export const protocolVersion = defineMethod({
  name: "eth_protocolVersion",
  params: {},
  result: quantityNumber,
  handle: (_params, { node }: { node: Pick<NodePort, "info"> }) =>
    andThen(node.info(), ({ protocolVersion }) => protocolVersion),
});
