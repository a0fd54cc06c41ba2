import { defineMethod } from "../../dispatch/method.ts";
import { address } from "../../params/codec.ts";
import type { NodeInfo } from "../../ports/node-info.ts";

/** `eth_coinbase`: who receives the fees of the blocks this node makes. */
export const coinbase = defineMethod({
  name: "eth_coinbase",
  params: {},
  result: address,
  handle: (_params, { node }: { node: NodeInfo }) => node.coinbase(),
});
