import { defineMethod } from "../../dispatch/method.ts";
import { quantity } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";

/** `eth_maxPriorityFeePerGas`: a tip with which a transaction should be mined soon, in wei. */
export const maxPriorityFeePerGas = defineMethod({
  name: "eth_maxPriorityFeePerGas",
  params: {},
  result: quantity,
  handle: (_params, { chain }: { chain: Pick<ChainView, "suggestTip"> }) => chain.suggestTip(),
});
