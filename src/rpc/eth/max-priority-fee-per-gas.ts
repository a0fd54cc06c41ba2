import { quantity } from "../codec.ts";
import { defineMethod } from "../method.ts";
import type { FeeReader } from "../ports.ts";

/** `eth_maxPriorityFeePerGas`: a tip with which a transaction should be mined soon, in wei. */
export const maxPriorityFeePerGas = defineMethod({
  name: "eth_maxPriorityFeePerGas",
  params: {},
  result: quantity,
  handle: (_params, { fees }: { fees: FeeReader }) => fees.suggestTip(),
});
