import { boolean } from "../codec.ts";
import { defineMethod } from "../method.ts";
import type { NodeInfo } from "../node-info.ts";

/** `net_listening`: whether the node accepts connections of peers. */
export const listening = defineMethod({
  name: "net_listening",
  params: {},
  result: boolean,
  handle: (_params, { node }: { node: NodeInfo }) => node.isListening(),
});
