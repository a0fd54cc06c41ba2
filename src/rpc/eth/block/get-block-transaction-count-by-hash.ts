import { defineMethod } from "../../dispatch/method.ts";
import { byHash } from "../../params/block-selector.ts";
import { hash, nullable, quantityNumber } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_getBlockTransactionCountByHash`: how many transactions the block holds; null when unknown. */
export const getBlockTransactionCountByHash = defineMethod({
  name: "eth_getBlockTransactionCountByHash",
  params: { blockHash: hash },
  result: nullable(quantityNumber),
  handle: ({ blockHash }, { chain }: { chain: Pick<ChainView, "block"> }) =>
    andThen(
      chain.block(byHash(blockHash)),
      (executed) => executed?.block.transactions.length ?? null,
    ),
});
