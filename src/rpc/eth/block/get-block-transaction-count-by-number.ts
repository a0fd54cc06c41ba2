import { defineMethod } from "../../dispatch/method.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { nullable, quantityNumber } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_getBlockTransactionCountByNumber`: how many transactions the block holds; null beyond the head. */
export const getBlockTransactionCountByNumber = defineMethod({
  name: "eth_getBlockTransactionCountByNumber",
  params: { block: blockNumberOrTag },
  result: nullable(quantityNumber),
  handle: ({ block }, { chain }: { chain: Pick<ChainView, "block"> }) =>
    andThen(chain.block(block), (executed) => executed?.block.transactions.length ?? null),
});
