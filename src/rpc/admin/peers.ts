import { defineMethod } from "../dispatch/method.ts";
import { json } from "../params/codec.ts";
import type { NodeAdmin } from "./port.ts";

/** `admin_peers`: none, while one validator in this process is the whole network. */
export const peers = defineMethod({
  name: "admin_peers",
  params: {},
  result: json,
  private: true,
  handle: (_params, { node }: { node: Pick<NodeAdmin, "peers"> }) => node.peers(),
});
