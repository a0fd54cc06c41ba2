import type { ChainReader } from "../../chain/reader.ts";
import { blockNumberOrTag } from "../block-selector.ts";
import { nullable, quantityNumber } from "../codec.ts";
import { defineMethod } from "../method.ts";
import { findByNumber } from "../resolve.ts";

/** `eth_getBlockTransactionCountByNumber`: how many transactions the block holds; null beyond the head. */
export const getBlockTransactionCountByNumber = defineMethod({
  name: "eth_getBlockTransactionCountByNumber",
  params: { block: blockNumberOrTag },
  result: nullable(quantityNumber),
  handle: ({ block }, { chain }: { chain: ChainReader }) =>
    findByNumber(chain, block)?.block.transactions.length ?? null,
});
