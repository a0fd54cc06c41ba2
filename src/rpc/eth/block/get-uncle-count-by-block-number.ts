import { defineMethod } from "../../dispatch/method.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { nullable, quantityNumber } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_getUncleCountByBlockNumber`: number of uncles, which only imported proof-of-work blocks have; null for an unknown block. */
export const getUncleCountByBlockNumber = defineMethod({
  name: "eth_getUncleCountByBlockNumber",
  params: { block: blockNumberOrTag },
  result: nullable(quantityNumber),
  handle: ({ block }, { chain }: { chain: Pick<ChainView, "block"> }) =>
    andThen(chain.block(block), (executed) => executed?.block.uncles.length ?? null),
});
