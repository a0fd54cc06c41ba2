import { quantityNumber } from "../codec.ts";
import { defineMethod } from "../method.ts";
import type { NodeInfo } from "../node-info.ts";

/** `eth_protocolVersion`: the devp2p `eth` version. */
export const protocolVersion = defineMethod({
  name: "eth_protocolVersion",
  params: {},
  result: quantityNumber,
  handle: (_params, { node }: { node: NodeInfo }) => node.protocolVersion,
});
