import { defineMethod } from "../dispatch/method.ts";
import { string } from "../params/codec.ts";
import { andThen } from "../ports/maybe-promise.ts";
import type { NodePort } from "../ports/node.ts";

/** `net_version`: the network id as a decimal string. */
export const version = defineMethod({
  name: "net_version",
  params: {},
  result: string,
  handle: (_params, { node }: { node: Pick<NodePort, "info"> }) =>
    andThen(node.info(), ({ networkId }) => networkId.toString()),
});
