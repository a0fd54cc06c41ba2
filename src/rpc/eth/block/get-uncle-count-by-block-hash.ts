import { defineMethod } from "../../dispatch/method.ts";
import { byHash } from "../../params/block-selector.ts";
import { hash, nullable, quantityNumber } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_getUncleCountByBlockHash`: number of uncles, which only imported proof-of-work blocks have; null for an unknown block. */
export const getUncleCountByBlockHash = defineMethod({
  name: "eth_getUncleCountByBlockHash",
  params: { blockHash: hash },
  result: nullable(quantityNumber),
  handle: ({ blockHash }, { chain }: { chain: Pick<ChainView, "block"> }) =>
    andThen(chain.block(byHash(blockHash)), (executed) => executed?.block.uncles.length ?? null),
});
