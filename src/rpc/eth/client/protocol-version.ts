import { defineMethod } from "../../dispatch/method.ts";
import { quantityNumber } from "../../params/codec.ts";
import type { NodeInfo } from "../../ports/node-info.ts";

/** `eth_protocolVersion`: the devp2p `eth` version. */
export const protocolVersion = defineMethod({
  name: "eth_protocolVersion",
  params: {},
  result: quantityNumber,
  handle: (_params, { node }: { node: NodeInfo }) => node.protocolVersion,
});
