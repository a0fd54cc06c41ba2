import { defineMethod } from "../dispatch/method.ts";
import { boolean } from "../params/codec.ts";
import { andThen } from "../ports/maybe-promise.ts";
import type { NodePort } from "../ports/node.ts";

/** `net_listening`: whether the node accepts connections of peers. */
export const listening = defineMethod({
  name: "net_listening",
  params: {},
  result: boolean,
  handle: (_params, { node }: { node: Pick<NodePort, "info"> }) =>
    andThen(node.info(), ({ isListening }) => isListening),
});
