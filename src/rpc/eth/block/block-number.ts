import { defineMethod } from "../../dispatch/method.ts";
import { quantityNumber } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_blockNumber`: number of the newest block. */
export const blockNumber = defineMethod({
  name: "eth_blockNumber",
  params: {},
  result: quantityNumber,
  handle: (_params, { chain }: { chain: Pick<ChainView, "head"> }) =>
    andThen(chain.head(), ({ header }) => header.number),
});
