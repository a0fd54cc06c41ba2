import { toQuantity } from "../../primitives/quantity.ts";
import { json } from "../codec.ts";
import { defineMethod } from "../method.ts";
import type { NodeInfo } from "../node-info.ts";

/** `eth_syncing`: false, or how far the node has come while it is behind the chain it follows. */
export const syncing = defineMethod({
  name: "eth_syncing",
  params: {},
  result: json,
  handle(_params, { node }: { node: NodeInfo }) {
    const progress = node.syncProgress();
    return (
      progress !== undefined &&
      Object.fromEntries(Object.entries(progress).map(([key, value]) => [key, toQuantity(value)]))
    );
  },
});
