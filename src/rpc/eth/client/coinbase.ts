import { defineMethod } from "../../dispatch/method.ts";
import { address } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { NodePort } from "../../ports/node.ts";

/** `eth_coinbase`: who receives the fees of the blocks this node makes. */
export const coinbase = defineMethod({
  name: "eth_coinbase",
  params: {},
  result: address,
  handle: (_params, { node }: { node: Pick<NodePort, "info"> }) =>
    andThen(node.info(), ({ coinbase }) => coinbase),
});
