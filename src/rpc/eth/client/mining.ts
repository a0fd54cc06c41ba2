import { defineMethod } from "../../dispatch/method.ts";
import { boolean } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { NodePort } from "../../ports/node.ts";

/** `eth_mining`: whether this node makes the next block. */
export const mining = defineMethod({
  name: "eth_mining",
  params: {},
  result: boolean,
  handle: (_params, { node }: { node: Pick<NodePort, "info"> }) =>
    andThen(node.info(), ({ isValidator }) => isValidator),
});
