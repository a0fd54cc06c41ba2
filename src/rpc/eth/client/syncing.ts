import { defineMethod } from "../../dispatch/method.ts";
import { syncProgressText } from "../../json/sync-json.ts";
import { rawJson } from "../../params/codec.ts";
import type { NodeInfo } from "../../ports/node-info.ts";

/** `eth_syncing`: false, or how far the node has come while it is behind the chain it follows. */
export const syncing = defineMethod({
  name: "eth_syncing",
  params: {},
  result: rawJson,
  handle(_params, { node }: { node: NodeInfo }) {
    const progress = node.syncProgress();
    return progress === undefined ? "false" : syncProgressText(progress);
  },
});
