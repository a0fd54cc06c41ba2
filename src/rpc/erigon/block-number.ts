import { UnknownBlockError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { blockNumberOrTag } from "../params/block-selector.ts";
import { optional, quantityNumber } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";

/**
 * `erigon_blockNumber`: number of the newest block, or of the one that a tag names.
 *
 * @throws UnknownBlockError
 */
export const blockNumber = defineMethod({
  name: "erigon_blockNumber",
  params: { block: optional(blockNumberOrTag, "latest") },
  result: quantityNumber,
  handle: ({ block }, { chain }: { chain: Pick<ChainView, "header"> }) =>
    andThen(chain.header(block), (sealed) => {
      if (!sealed) throw new UnknownBlockError("header not found");
      return sealed.header.number;
    }),
});
