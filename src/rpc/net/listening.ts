import { defineMethod } from "../dispatch/method.ts";
import { boolean } from "../params/codec.ts";
import type { NodeInfo } from "../ports/node-info.ts";

/** `net_listening`: whether the node accepts connections of peers. */
export const listening = defineMethod({
  name: "net_listening",
  params: {},
  result: boolean,
  handle: (_params, { node }: { node: NodeInfo }) => node.isListening(),
});
