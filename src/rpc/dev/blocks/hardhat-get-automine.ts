import { defineMethod } from "../../dispatch/method.ts";
import { boolean } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { NodePort } from "../../ports/node.ts";

/** `hardhat_getAutomine`: whether a transaction is mined as soon as it arrives; Ignition then skips waiting for confirmations. */
export const hardhatGetAutomine = defineMethod({
  name: "hardhat_getAutomine",
  params: {},
  result: boolean,
  private: true,
  handle: (_params, { node }: { readonly node: Pick<NodePort, "devChain"> }) =>
    andThen(node.devChain(), ({ isAutomine }) => isAutomine),
});
