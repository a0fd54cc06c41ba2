import { defineMethod } from "../dispatch/method.ts";
import { json } from "../params/codec.ts";
import type { NodeAdmin } from "./port.ts";

/** `admin_nodeInfo`: who the node is, where it listens and which chain it has. */
export const nodeInfo = defineMethod({
  name: "admin_nodeInfo",
  params: {},
  result: json,
  private: true,
  handle: (_params, { node }: { node: Pick<NodeAdmin, "adminInfo"> }) => node.adminInfo(),
});
