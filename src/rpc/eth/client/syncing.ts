import { defineMethod } from "../../dispatch/method.ts";
import { syncProgressText } from "../../json/sync-json.ts";
import { rawJson } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { NodePort } from "../../ports/node.ts";

/** `eth_syncing`: false, or how far the node has come while it is behind the chain it follows. */
export const syncing = defineMethod({
  name: "eth_syncing",
  params: {},
  result: rawJson,
  handle: (_params, { node }: { node: Pick<NodePort, "info"> }) =>
    andThen(node.info(), ({ syncProgress }) =>
      syncProgress === undefined ? "false" : syncProgressText(syncProgress),
    ),
});
