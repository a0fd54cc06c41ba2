import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { nullable, quantityNumber } from "../../params/codec.ts";
import { findByNumber } from "../../ports/resolve.ts";

/** `eth_getBlockTransactionCountByNumber`: how many transactions the block holds; null beyond the head. */
export const getBlockTransactionCountByNumber = defineMethod({
  name: "eth_getBlockTransactionCountByNumber",
  params: { block: blockNumberOrTag },
  result: nullable(quantityNumber),
  handle: ({ block }, { chain }: { chain: ChainReader }) =>
    findByNumber(chain, block)?.block.transactions.length ?? null,
});
